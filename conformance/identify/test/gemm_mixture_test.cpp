// Devices that are no one machine: of two rows by place, by depth or by value, or with noise. None
// may be called by the name of a row. And what a census says of algorithms that differ in one
// place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "conformance/identify/gemm_census.hpp"
#include "conformance/identify/gemm_identify.hpp"
#include "conformance/identify/test/dressed_gemm.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::identify {
namespace {

GemmProblem fp8() {
    constexpr FactorType factor{formats::e4m3, FactorScaling::tensor};
    return {.a = factor, .b = factor};
}

Client row_device(std::string_view name) {
    return device_of(dressed_as(*find_gemm_model(name)));
}

GemmIdentification identified(const Client& device) {
    GemmSubject subject(device, fp8());
    auto found = identify_gemm(subject);
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    return found.ok() ? std::move(found).value() : GemmIdentification{};
}

// A device of two: which of them answers hangs on the row, the column and the depth of an output.
struct Place {
    std::int64_t row, column, depth;
};
Client merged(const Client& one, const Client& other,
              std::function<bool(const Place&)> is_of_other) {
    Client device = one;
    device.ask = [=](const Question& question) {
        DeviceAnswer answer = one.ask(question);
        const DeviceAnswer second = other.ask(question);
        const std::int64_t n = question.outputs[0].columns;
        const std::int64_t depth = question.inputs[0].spec.columns;
        for (std::int64_t i = 0; i < question.outputs[0].rows * n; ++i)
            if (is_of_other({i / n, i % n, depth}))
                std::memcpy(answer.outputs[0].bytes.data() + i * 4,
                            second.outputs[0].bytes.data() + i * 4, 4);
        return answer;
    };
    return device;
}

struct Mixed {
    const char* about;
    std::function<bool(const Place&)> is_of_other;
};

TEST(GemmMixture, TwoRowsInOneDeviceAreBothNamedAndNeitherAlone) {
    const Mixed mixtures[] = {
        {"rows from 256 on", [](const Place& p) { return p.row >= 256; }},
        {"columns from 256 on", [](const Place& p) { return p.column >= 256; }},
        {"every seventh row", [](const Place& p) { return p.row % 7 == 3; }},
        {"K up to 272", [](const Place& p) { return p.depth <= 272; }},
        {"K from 4096 on", [](const Place& p) { return p.depth >= 4096; }},
    };
    for (const Mixed& mixed : mixtures) {
        const GemmIdentification found = identified(
            merged(row_device("hopper-fp8-promoted"), row_device("hopper-fp8"), mixed.is_of_other));
        EXPECT_TRUE(found.rows.empty()) << mixed.about << ": " << found.rows.front();
        EXPECT_GT(found.unexplained(), 0u) << mixed.about;
        const std::vector<std::string> both{found.nearest, found.mixture.row};
        for (const char* row : {"hopper-fp8", "hopper-fp8-promoted"})
            EXPECT_NE(std::ranges::find(both, row), both.end()) << mixed.about << ": no " << row;
        EXPECT_GT(found.mixture.answers, 0u) << mixed.about;
    }
}

// Products of the largest numbers by another machine than all others.
TEST(GemmMixture, ByValue) {
    Dress dress = dressed_as(*find_gemm_model("hopper-fp8-promoted"));
    const Accumulate usual = dress.accumulate;
    const Accumulate other = dressed_as(*find_gemm_model("mma-sync-fp8")).accumulate;
    dress.accumulate = [=](const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
                           const fast::Unpacked& c) {
        for (std::int64_t k = 0; k < depth; ++k)
            if ((a.codes.at(k).bits & 0x7F) == 0x7D && (b.codes.at(k).bits & 0x7F) == 0x7D)
                return other(a, b, depth, c);
        return usual(a, b, depth, c);
    };
    const GemmIdentification found = identified(device_of(dress));
    EXPECT_TRUE(found.rows.empty());
    EXPECT_EQ(found.nearest, "hopper-fp8-promoted");
    EXPECT_EQ(found.mixture.row, "mma-sync-fp8");
}

// One output of so many has its last bits turned.
Client noisy(const Client& clean, std::uint64_t one_of) {
    Client device = clean;
    const auto count = std::make_shared<std::uint64_t>(0);
    device.ask = [=](const Question& question) {
        DeviceAnswer answer = clean.ask(question);
        for (std::size_t at = 0; at + 4 <= answer.outputs[0].bytes.size(); at += 4)
            if (++*count % one_of == 0) answer.outputs[0].bytes[at + 1] ^= std::byte{0x5A};
        return answer;
    };
    return device;
}

TEST(GemmMixture, NoiseHasNoName) {
    for (const std::uint64_t one_of : {1009u, 8009u}) {
        const GemmIdentification found = identified(noisy(row_device("hopper-fp8"), one_of));
        EXPECT_TRUE(found.rows.empty()) << one_of;
        EXPECT_GT(found.unexplained(), 0u) << one_of;
        EXPECT_EQ(found.mixture.row, "") << one_of;
        EXPECT_EQ(found.nearest, "hopper-fp8") << one_of;
    }
}

// The row, but for the output at one place.
Client with_ways(const std::vector<std::pair<std::string, Client>>& ways) {
    Client device;
    device.algorithms = [=](const Question&) -> Expected<std::vector<std::string>> {
        std::vector<std::string> names;
        for (const auto& way : ways) names.push_back(way.first);
        return names;
    };
    device.ask = [=](const Question& question) {
        for (const auto& [name, way] : ways)
            if (name == question.operation.gemm->algorithm) return way.ask(question);
        return DeviceAnswer{};
    };
    return device;
}

TEST(GemmCensus, OneOutputApartIsAClassOfItsOwnAndHasNoRow) {
    const Client right = row_device("hopper-fp8-promoted");
    const Client wrong = merged(right, row_device("fma-chain"),
                                [](const Place& p) { return p.row == 13 && p.column == 22; });
    const auto census =
        take_census(with_ways({{"right", right}, {"rarely wrong", wrong}, {"right too", right}}),
                    fp8(), {16, 24, 512});
    ASSERT_TRUE(census.ok());
    const std::vector<GemmClass>& classes = census.value().classes;
    ASSERT_EQ(classes.size(), 2u);
    EXPECT_EQ(classes[0].algorithms, (std::vector<std::string>{"right", "right too"}));
    EXPECT_EQ(classes[0].rows, std::vector<std::string>{"hopper-fp8-promoted"});
    EXPECT_EQ(classes[1].algorithms, std::vector<std::string>{"rarely wrong"});
    EXPECT_TRUE(classes[1].rows.empty()) << classes[1].rows.front();
    EXPECT_EQ(classes[1].nearest, "hopper-fp8-promoted");
    EXPECT_NE(classes[1].witness, "");
    EXPECT_LT(classes[1].predicted, classes[1].looked_at);
}

TEST(GemmCensus, OtherBitsOfNanAreAnotherClassOfTheSameRow) {
    Dress dress = dressed_as(*find_gemm_model("hopper-fp8"));
    const Client one = device_of(dress);
    dress.nan = 0x7FC00000;
    const auto census =
        take_census(with_ways({{"one", one}, {"other", device_of(dress)}}), fp8(), {16, 24, 512});
    ASSERT_TRUE(census.ok());
    const std::vector<GemmClass>& classes = census.value().classes;
    ASSERT_EQ(classes.size(), 2u);
    for (const GemmClass& group : classes)
        EXPECT_EQ(group.rows, std::vector<std::string>{"hopper-fp8"});
    EXPECT_EQ(classes[0].nans, std::vector<Code>{Code{0x7FFFFFFF}});
    EXPECT_EQ(classes[1].nans, std::vector<Code>{Code{0x7FC00000}});
}

}  // namespace
}  // namespace mx::identify
