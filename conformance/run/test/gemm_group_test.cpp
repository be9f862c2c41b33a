// Grouped products through the runner: the right device passes, and each way to lose a group is
// found and named.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/run/gemm_judge.hpp"
#include "conformance/run/gemm_problem.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "conformance/run/test/gemm_subject.hpp"

namespace mx {
namespace {

using results::Verdict;

const std::string mx_case = "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 data=gemm.exact-mantissas ";

Case case_of(const std::string& text) {
    const auto c = parse_case(text);
    EXPECT_TRUE(c.ok()) << text << ": " << (c ? "" : c.error().message);
    return c ? c.value() : Case{};
}

// Rows `first` to `end` of a tensor.
CodeTensor rows_of(const CodeTensor& tensor, std::int64_t first, std::int64_t end) {
    CodeTensor rows = tensor;
    const auto size = static_cast<std::ptrdiff_t>(tensor.columns * tensor.width);
    rows.rows = end - first;
    rows.bytes.assign(tensor.bytes.begin() + first * size, tensor.bytes.begin() + end * size);
    return rows;
}

// Each group is a product that stands alone.
TEST(GroupedGemm, EachGroupIsWhatTheOracleMakesOfItAlone) {
    for (const std::string rest :
         {"shape=24x6x80 groups=0+5+0+11+1+0", "shape=24x6x80 groups=0+5+0+19 beta=0.5 output=bf16",
          "shape=24x6x80 groups=24", "shape=24x6x80 groups=3+18 data=gemm.exact-scales",
          "shape=24x6x80 groups=9+9 model=fma-chain-mx"}) {
        Case c = case_of(rest.find("data=") == std::string::npos
                             ? mx_case + rest
                             : "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 " + rest);
        const std::vector<CodeTensor> inputs = make_gemm_inputs(c);
        const CodeTensor d = expect_gemm(c, inputs)[0];
        const std::vector<std::int64_t> offsets = c.gemm.offsets();
        ASSERT_EQ(d.rows, offsets.back());
        for (std::size_t group = 0; group + 1 < offsets.size(); ++group) {
            const std::int64_t first = offsets[group], end = offsets[group + 1];
            if (first == end) continue;
            const auto b = static_cast<std::int64_t>(group) * c.gemm.n;
            Case alone = c;
            alone.gemm.groups.clear();
            alone.gemm.m = alone.rows = end - first;
            std::vector<CodeTensor> of_group{
                rows_of(inputs[0], first, end), rows_of(inputs[1], first, end),
                rows_of(inputs[2], b, b + c.gemm.n), rows_of(inputs[3], b, b + c.gemm.n)};
            if (c.gemm.reads_c()) of_group.push_back(rows_of(inputs[4], first, end));
            EXPECT_EQ(expect_gemm(alone, of_group)[0].bytes, rows_of(d, first, end).bytes)
                << rest << ", group " << group;
        }
    }
}

TEST(GroupedGemm, ScalesOfEachGroupBeginATile) {
    const Case c = case_of(mx_case + "shape=200x24x96 groups=1+0+130+5 scales=128x4");
    const std::vector<Buffer> buffers = input_buffers(c);
    ASSERT_EQ(buffers.size(), 5u);
    EXPECT_EQ(buffers[0].spec.rows, 200);
    EXPECT_EQ(buffers[1].spec.rows, 128 + 256 + 128);
    EXPECT_EQ(buffers[3].spec.rows, 4 * 128);
    EXPECT_EQ(buffers[4].spec.type, "i32");
    EXPECT_EQ(output_buffers(c)[0].spec.rows, 200);
    const std::vector<CodeTensor> inputs = make_gemm_inputs(c);
    ASSERT_EQ(inputs[1].rows, 200);
    const std::vector<std::byte> bytes = lay_out(buffers[1], inputs, std::byte{0xFF});
    // One tile of 128 x 4 is 512 bytes, and its first row its first four. Row 1 of A is the first
    // of the third group, row 131 that of the fourth.
    const auto scale = [&](std::int64_t row) {
        return static_cast<std::byte>(inputs[1].at(static_cast<std::size_t>(row * 3)));
    };
    EXPECT_EQ(bytes[0], scale(0));
    EXPECT_EQ(bytes[16], std::byte{0xFF});
    EXPECT_EQ(bytes[512], scale(1));
    EXPECT_EQ(bytes[512 * 2], scale(129));
    EXPECT_EQ(bytes[512 * 3], scale(131));
    EXPECT_EQ(std::ranges::count(bytes, std::byte{0xFF}), std::ssize(bytes) - 136 * 3);
}

TEST(GroupedGemm, TheRightDevicePasses) {
    for (const std::string rest :
         {"shape=24x6x80 groups=0+5+0+11+1+0", "shape=24x6x80 groups=5+19 scales=128x4",
          "shape=24x6x80 groups=24+0+0 scales=8x4", "shape=24x6x80 groups=0+0",
          "shape=8x2x64 groups=3+2+3 beta=2"}) {
        const results::CaseResult result = run(mx_case + rest, {});
        EXPECT_EQ(result.verdict, Verdict::pass_exact) << told(result);
    }
    const results::CaseResult modelled =
        run("gemm a=mxfp8-e4m3 b=mxfp8-e4m3 data=gemm.middle shape=24x6x80 groups=3+0+5 "
            "model=blackwell-mx",
            GemmSubject{.model = find_gemm_model("blackwell-mx")});
    EXPECT_EQ(modelled.verdict, Verdict::pass_exact) << told(modelled);
}

// What a device does to the group of each row, and what is said of it.
struct Fault {
    const char* says;
    void (*spoil)(PlainGemm& gemm);
    std::string fields = "shape=44x6x80 groups=0+5+0+16+19";
};

void shift(PlainGemm& gemm, std::size_t by) {
    for (std::size_t& group : gemm.groups)
        if (group != PlainGemm::no_group)
            group = std::min(group + by, static_cast<std::size_t>(gemm.asked.groups) - 1);
}

TEST(GroupedGemm, EachFaultIsNamed) {
    const std::vector<Fault> faults{
        {"a group takes B of the next", [](PlainGemm& gemm) { shift(gemm, 1); }},
        {"every group takes B of the first",
         [](PlainGemm& gemm) {
             for (std::size_t& group : gemm.groups)
                 if (group != PlainGemm::no_group) group = 0;
         }},
        {"groups without rows are passed over",
         [](PlainGemm& gemm) {
             constexpr std::size_t those_with_rows[] = {0, 0, 0, 1, 2};
             for (std::size_t& group : gemm.groups)
                 if (group != PlainGemm::no_group) group = those_with_rows[group];
         }},
        {"the group of a row is that of the first row of its tile of 16",
         [](PlainGemm& gemm) {
             const std::vector<std::size_t> right = gemm.groups;
             for (std::size_t row = 0; row < 40; ++row) gemm.groups[row] = right[row / 16 * 16];
         }},
        {"beyond the end of the last group were written, first in row 40 of D",
         [](PlainGemm& gemm) {
             for (std::size_t& group : gemm.groups)
                 if (group == PlainGemm::no_group) group = 4;
         }},
    };
    for (const Fault& fault : faults) {
        const results::CaseResult result =
            run(mx_case + fault.fields, GemmSubject{.spoil = fault.spoil});
        EXPECT_EQ(result.verdict, Verdict::fail) << told(result);
        EXPECT_NE(told(result).find(fault.says), std::string::npos) << told(result);
    }
}

TEST(GroupedGemm, RowsThatAreNotWrittenAreSeen) {
    const results::CaseResult result =
        run(mx_case + "shape=44x6x80 groups=0+5+0+16+19", GemmSubject{.rows_unwritten_from = 37});
    EXPECT_EQ(result.verdict, Verdict::fail);
    EXPECT_NE(told(result).find("row 37, 38, 39 untouched"), std::string::npos) << told(result);
    EXPECT_NE(told(result).find("of group 4"), std::string::npos) << told(result);
}

// Nothing would show in which group a row is.
TEST(GroupedGemm, DataThatCannotShowTheGroupIsNotEnough) {
    const results::CaseResult result =
        run("gemm a=bf16 b=bf16 shape=6x1x32 groups=3+0+3 data=gemm.counting", {});
    EXPECT_EQ(result.verdict, Verdict::insufficient_data) << told(result);
}

}  // namespace
}  // namespace mx
