// How fast the library is beside the other ways of this tree to quantize a whole tensor, in one
// run: 64 MB of float32 to mxfp8-e4m3 on one thread, and a single block.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "conformance/emulate/quantize_tensor.hpp"
#include "conformance/library/mx_oracle.h"
#include "device/abi/block_operation.hpp"

namespace mx::library {
namespace {

constexpr std::int64_t rows = 4096, columns = 4096;

// Values of some 20 binades with all their bits, and of both signs.
std::vector<std::uint32_t> values_of(std::int64_t count) {
    std::vector<std::uint32_t> values;
    std::uint64_t state = 1;
    for (std::int64_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto bits = static_cast<std::uint32_t>(state >> 32);
        values.push_back((bits & 0x807FFFFF) | (117 + bits / 0x800000 % 20) << 23);
    }
    return values;
}

template <typename Work>
double seconds_of(const Work& work) {
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count());
    }
    return best;
}

struct Outputs {
    std::vector<std::uint8_t> codes, scales;
};

mx_tensor tensor(const char* type, void* data, std::int64_t height, std::int64_t width) {
    return {sizeof(mx_tensor), data, type, "host", "strided", height, width, width, 1};
}

mx_status quantize(std::vector<std::uint32_t>& values, std::int64_t width, Outputs& outputs) {
    const mx_operation asked = block_operation("quantize", "mxfp8-e4m3", "ocp", "row");
    const auto height = static_cast<std::int64_t>(values.size()) / width;
    const mx_tensor input = tensor("f32", values.data(), height, width);
    const mx_tensor results[] = {tensor("e4m3", outputs.codes.data(), height, width),
                                 tensor("e8m0", outputs.scales.data(), height, width / 32)};
    return mx_oracle_run(&asked, &input, 1, results, 2, nullptr, nullptr);
}

TEST(Speed, AWholeTensorIsAsFastAsTheTool) {
    std::vector<std::uint32_t> values = values_of(rows * columns);
    Outputs outputs{std::vector<std::uint8_t>(values.size()),
                    std::vector<std::uint8_t>(values.size() / 32)};
    ASSERT_EQ(quantize(values, columns, outputs), MX_OK);
    const double library = seconds_of([&] { quantize(values, columns, outputs); });
    data::HostTensor given{"x", "f32", {rows, columns}, {}};
    given.bytes.resize(values.size() * sizeof values[0]);
    std::memcpy(given.bytes.data(), values.data(), given.bytes.size());
    data::BlockNames names{.format = "mxfp8-e4m3", .dialect = "ocp"};
    names = emulate::completed(names);
    emulate::QuantizedTensor made;
    const double tool =
        seconds_of([&] { made = emulate::quantize_tensor(given, names, {}).value(); });
    const auto& elements = made.file.tensors[0].bytes;
    ASSERT_EQ(elements.size(), outputs.codes.size());
    EXPECT_EQ(std::memcmp(elements.data(), outputs.codes.data(), elements.size()), 0);
    std::printf("64 MB of float32 to mxfp8-e4m3: library %.3f s, quantize_tensor %.3f s, %.2f\n",
                library, tool, tool / library);
    EXPECT_GE(tool / library, 0.9);
}

// A limit in seconds, longer by what ctest says of sanitizers and emulated processors.
double limit(double seconds) {
    const char* factor = std::getenv("MX_TIME_FACTOR");
    return seconds * (factor == nullptr ? 1 : std::atoi(factor));
}

// What an assertion costs that holds.
TEST(Speed, ComparingWhatIsRightCostsLittle) {
    std::vector<std::uint32_t> values = values_of(1 << 20);
    Outputs outputs{std::vector<std::uint8_t>(1 << 20), std::vector<std::uint8_t>(1 << 15)};
    ASSERT_EQ(quantize(values, 1024, outputs), MX_OK);
    const mx_operation asked = block_operation("quantize", "mxfp8-e4m3", "ocp", "row");
    const mx_tensor input = tensor("f32", values.data(), 1024, 1024);
    const mx_tensor answers[] = {tensor("e4m3", outputs.codes.data(), 1024, 1024),
                                 tensor("e8m0", outputs.scales.data(), 1024, 32)};
    const double seconds = seconds_of([&] {
        char* json = nullptr;
        ASSERT_EQ(mx_oracle_compare(&asked, &input, 1, answers, 2, nullptr, &json, nullptr), MX_OK);
        mx_oracle_free(json);
    });
    std::printf("comparing 1 M elements: %.1f ms\n", seconds * 1e3);
    EXPECT_LT(seconds, limit(0.2));  // some 10 ms where nothing else runs
}

TEST(Speed, ABlockTakesMicroseconds) {
    std::vector<std::uint32_t> values = values_of(32);
    Outputs outputs{std::vector<std::uint8_t>(32), std::vector<std::uint8_t>(1)};
    constexpr int calls = 1000;
    const double seconds = seconds_of([&] {
        for (int i = 0; i < calls; ++i) quantize(values, 32, outputs);
    });
    std::printf("one block: %.2f us\n", seconds / calls * 1e6);
    EXPECT_LT(seconds / calls, limit(100e-6));  // some 4 us where nothing else runs
}

}  // namespace
}  // namespace mx::library
