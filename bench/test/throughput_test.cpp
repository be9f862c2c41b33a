// Tests of the benchmark on devices that are made up: what is called, what a row holds, and which
// device that refuses or fails leads to what. No time is held to a number.
#include "bench/throughput.hpp"

#include <gtest/gtest.h>

#include "bench/product_jobs.hpp"
#include "bench/sampling.hpp"
#include "device/cpu/cpu_device.hpp"

namespace mx::bench {
namespace {

using results::BenchRow;

int calls = 0;

// Takes quantize alone, and says that each run took a millisecond.
mx_status run_quantize(void*, const mx_operation* operation, const mx_tensor*, std::size_t,
                       const mx_tensor*, std::size_t, mx_message* message) {
    ++calls;
    const bool quantizes = std::string_view(operation->name) == "quantize";
    if (!quantizes) std::snprintf(message->text, message->capacity, "not today");
    return quantizes ? MX_OK : MX_NOT_SUPPORTED;
}
mx_status run_lost(void*, const mx_operation*, const mx_tensor*, std::size_t, const mx_tensor*,
                   std::size_t, mx_message*) {
    return MX_DEVICE_LOST;
}
double one_millisecond() {
    return 1e-3;
}

template <auto run>
const mx_device_api* api(std::uint32_t) {
    static const mx_device_api table{
        sizeof(mx_device_api),
        MX_DEVICE_ABI_VERSION,
        [](void** device, mx_message*) {
            *device = nullptr;
            return MX_OK;
        },
        [](void*) {},
        [](void*, const mx_fact**) -> std::size_t { return 0; },
        [](void*, const mx_operation*, const mx_tensor*, std::size_t, const mx_tensor*, std::size_t,
           mx_message*) { return MX_OK; },
        run,
        nullptr,
        nullptr};
    return &table;
}

Wish small_wish() {
    return {{"quantize", "dequantize", "gemm"},
            {{"mxfp8-e4m3", "ocp"}},
            {"f32"},
            {"8x64"},
            {"32x32x32"},
            Data::realistic,
            false,
            1e-3};
}

struct Measured {
    Status status = success();
    std::vector<BenchRow> rows;

    const BenchRow* find(const std::string& what, const std::string& cache) const {
        for (const BenchRow& row : rows)
            if (row.what == what && row.cache == cache) return &row;
        return nullptr;
    }
};

Measured measured(mx_device_get_api_function get_api, double (*clock)(), const Wish& wish) {
    auto device = Device::open({.name = "made up", .get_api = get_api});
    EXPECT_TRUE(device);
    Measured result;
    result.status = measure({device.value(), clock}, wish, [&](const BenchRow& row) {
        result.rows.push_back(row);
        return true;
    });
    return result;
}

TEST(Throughput, EveryRowHasARoofAndFourQuarters) {
    const Measured result =
        measured([](std::uint32_t) { return mx_cpu_device_api(); }, nullptr, small_wish());
    ASSERT_TRUE(result.status);
    for (const char* what : {"copy", "quantize", "dequantize"})
        for (const char* cache : {"cold", "warm"}) {
            const BenchRow* row = result.find(what, cache);
            ASSERT_NE(row, nullptr) << what << " " << cache;
            EXPECT_EQ(row->reason, "");
            EXPECT_GE(row->samples, 10u);
            EXPECT_EQ(row->samples % 2, 0u);
            EXPECT_GT(row->seconds, 0);
            EXPECT_LE(row->low, row->seconds);
            EXPECT_LE(row->seconds, row->high);
            EXPECT_GE(row->batch, 1u);
            for (const double quarter : row->quarters) EXPECT_GT(quarter, 0);
            EXPECT_GT(row->roof_share, 0);
        }
    EXPECT_EQ(result.find("copy", "cold")->bytes, 2u * 8 * 64 * 4);
    EXPECT_EQ(result.find("quantize", "cold")->bytes, 8u * 64 * 4 + 8 * 64 + 8 * 2);
    EXPECT_EQ(result.find("quantize", "warm")->name(), "quantize 8x64 f32 to mxfp8-e4m3 ocp, warm");
}

TEST(Throughput, TheDevicesOwnClockCountsAndARefusalIsARow) {
    const Measured result = measured(api<run_quantize>, one_millisecond, small_wish());
    ASSERT_TRUE(result.status);
    EXPECT_EQ(result.find("quantize", "cold")->seconds, 1e-3);
    EXPECT_EQ(result.find("quantize", "warm")->noise(), 0);
    EXPECT_EQ(result.find("dequantize", "cold")->reason, "not today");
    EXPECT_EQ(result.find("dequantize", "warm"), nullptr);
    EXPECT_EQ(result.find("gemm", "cold")->reason, "not today");
    EXPECT_EQ(result.find("gemm", "cold")->samples, 0u);
}

// What a sample is made of is on the device's own clock here, so that nothing is left to chance.
BenchRow sampled(const Run& run, const Run& twin) {
    std::vector<Job> jobs{{.row = {}, .run = run, .twin = twin}};
    EXPECT_TRUE(sample(jobs, {.is_cold = false, .on_gpu = false, .seconds = 0}));
    return jobs.front().row;
}

TEST(Throughput, ATwinThatLiesWorseIsNoise) {
    const BenchRow row = sampled([] { return 1e-3; }, [] { return 2e-3; });
    EXPECT_EQ(row.quarters, (std::array{1e-3, 2e-3, 1e-3, 2e-3}));
    EXPECT_DOUBLE_EQ(row.noise(), 1);
}

TEST(Throughput, SoIsATimeThatDrifts) {
    int runs = 0;  // two of them to warm up, then twelve
    const BenchRow row = sampled([&runs] { return ++runs <= 8 ? 1e-3 : 3e-3; }, {});
    EXPECT_EQ(row.samples, 12u);
    EXPECT_EQ(row.quarters, (std::array{1e-3, 1e-3, 3e-3, 3e-3}));
}

TEST(Throughput, AShortRunIsRepeatedAndItsMeanIsTheSample) {
    int runs = 0;
    const BenchRow row = sampled([&runs] { return ++runs % 2 == 0 ? 1e-5 : 3e-5; }, {});
    EXPECT_EQ(row.batch, 100u);
    EXPECT_EQ(runs, 2 + 12 * 100);
    EXPECT_NEAR(row.seconds, 2e-5, 1e-12);
    EXPECT_NEAR(row.noise(), 0, 1e-9);
}

TEST(Throughput, ALostDeviceEndsItAll) {
    const Measured result = measured(api<run_lost>, nullptr, small_wish());
    ASSERT_FALSE(result.status);
    EXPECT_EQ(result.status.error().kind, ErrorKind::device);
    EXPECT_EQ(result.status.error().message, "device lost in run: no reason given");
    EXPECT_TRUE(result.rows.empty());
}

TEST(Throughput, OnlyWhatIsWishedIsMeasured) {
    Wish wish = small_wish();
    wish.operations = {"dequantize"};
    const Measured result =
        measured([](std::uint32_t) { return mx_cpu_device_api(); }, nullptr, wish);
    EXPECT_NE(result.find("dequantize", "cold"), nullptr);
    EXPECT_EQ(result.find("quantize", "cold"), nullptr);
    EXPECT_EQ(result.find("gemm", "cold"), nullptr);
}

TEST(Throughput, ShapesAreNumbersWithAnXBetween) {
    EXPECT_EQ(shape_of("8x64", 2).value(), (std::vector<std::int64_t>{8, 64}));
    EXPECT_EQ(shape_of("1x2x3", 3).value(), (std::vector<std::int64_t>{1, 2, 3}));
    for (const char* text : {"", "8", "8x", "x8", "8x64x1", "0x8", "-1x8", "8x1e3", "8 x 8",
                             "99999999999x1", "1048577x1"})
        EXPECT_FALSE(shape_of(text, 2)) << text;
}

TEST(Throughput, DataIsNeverZeros) {
    for (const Data data : {Data::realistic, Data::random_bits, Data::subnormals}) {
        Buffer buffer(4096);
        fill(buffer.words(), data);
        int zeros = 0;
        for (const std::uint32_t word : buffer.words()) zeros += (word & 0x7FFFFFFFu) == 0 ? 1 : 0;
        EXPECT_LT(zeros, 64);
    }
}

}  // namespace
}  // namespace mx::bench
