// The kernels of blocks whose scale has a mantissa: every rule against the same functions on the
// host, which mxcheck holds against the oracle without a GPU (on_host_plugin.cpp), and the fast
// kernels of NVFP4 against the general ones over shapes around their warps and tiles.
#include <string>

#include "device/cuda/kernels.hpp"
#include "device/cuda/launch.hpp"
#include "device/cuda/nvfp4_rules.hpp"
#include "device/cuda/real_scale_rules.hpp"
#include "device/cuda/test/gpu_fixture.hpp"
#include "device/cuda/test/on_host.hpp"

namespace mx::cuda::test {
namespace {

constexpr ValueType value_types[] = {ValueType::f32, ValueType::bf16, ValueType::f16};

enum class Data { bits, normal };

struct Problem {
    RealScaleRule rule;
    ValueType type;
    Element element;
    Extent block;  // 0 lines: the tensor
    bool has_f32_scales;
    Extent extent;
    std::int64_t gap;       // elements between the lines of values
    std::int64_t code_gap;  // bytes between the lines of packed codes
    CodeOrder codes;
    ScaleOrder scales;
    NumberSource source;
    Data data;
};

std::int64_t in_tiles(std::int64_t count, std::int64_t tile) {
    return (count + tile - 1) / tile * tile;
}

// Where the tensors of a problem lie: on the GPU, or copies on the host.
struct Places {
    std::uint8_t *values, *codes, *scales, *random, *number, *kept;
};

struct Sizes {
    explicit Sizes(const Problem& p)
        : stride(p.extent.lanes + p.gap),
          values(p.extent.lines * stride * width_of(p.type)),
          code_row_bytes((p.extent.lanes + 1) / 2 + p.code_gap),
          codes(p.extent.lines * (p.extent.lanes + p.code_gap)),
          random(p.extent.lines * p.extent.lanes * 4) {
        RealScaleJob job{};
        job.extent = p.extent;
        job.block = p.block;
        grid = block_grid(job);
        scales = in_tiles(grid.lines, 128) * in_tiles(grid.lanes, 4) * 4;
    }

    std::int64_t stride, values, code_row_bytes, codes, random, scales;
    Extent grid{};
};

RealScaleJob job_of(const Problem& p, const Places& at) {
    const Sizes sizes(p);
    const std::int64_t lanes = p.extent.lanes;
    return {p.rule,
            p.type,
            p.element,
            p.extent,
            p.block,
            {at.values, sizes.stride, 1},
            {at.codes, p.codes, lanes, 1, false, sizes.code_row_bytes, lanes + 2, 0, false},
            {{at.scales, p.scales, sizes.grid.lanes, 1, in_tiles(sizes.grid.lanes, 4) / 4, 0, 0},
             TileOrder::none,
             p.has_f32_scales},
            {at.random, lanes, 1},
            p.source,
            at.number,
            at.kept};
}

// Equal, or both NaN: which bits a NaN of arithmetic has, the host and the GPU may say otherwise.
template <ValueType type>
bool are_same_numbers(const std::vector<std::uint8_t>& left,
                      const std::vector<std::uint8_t>& right) {
    if (left.size() != right.size()) return false;
    constexpr std::size_t width = width_of(type);
    for (std::size_t i = 0; i + width <= left.size(); i += width) {
        const std::uint32_t a = load_value<type>(left.data() + i);
        const std::uint32_t b = load_value<type>(right.data() + i);
        if (a != b && !(is_nan(value_of<type>(a, 0)) && is_nan(value_of<type>(b, 0)))) return false;
    }
    return true;
}
bool are_same_values(ValueType type, const std::vector<std::uint8_t>& left,
                     const std::vector<std::uint8_t>& right) {
    if (type == ValueType::f32) return are_same_numbers<ValueType::f32>(left, right);
    if (type == ValueType::bf16) return are_same_numbers<ValueType::bf16>(left, right);
    return are_same_numbers<ValueType::f16>(left, right);
}

// Outputs on the GPU.
struct Outputs {
    explicit Outputs(const Problem& p) : codes(Sizes(p).codes), scales(Sizes(p).scales), kept(4) {}
    Bytes codes, scales, kept;

    bool margins_are_whole() const {
        return codes.margins_are_whole() && scales.margins_are_whole() && kept.margins_are_whole();
    }
};

class RealScaleKernels : public Gpu {
protected:
    void fill(const Bytes& values, const Problem& p) {
        if (p.data == Data::bits)
            finish(fill_bits(values.data(), values.size(), 7, stream_));
        else
            finish(
                fill_normal(values.data(), values.size() / width_of(p.type), {p.type, 7}, stream_));
    }

    // By the general kernels alone.
    void quantize_slowly(const RealScaleJob& job, std::uint32_t* amax) {
        ASSERT_EQ(cudaMemsetAsync(amax, 0, 4, stream_), cudaSuccess);
        finish(find_real_amax(job, amax, stream_));
        finish(quantize_real_any(job, amax, stream_));
    }

    void check_fast_kernels(const Problem& p) {
        const Sizes sizes(p);
        const Bytes values(sizes.values), word(4), number(4);
        fill(values, p);
        const float given = 77.0f;
        ASSERT_EQ(cudaMemcpy(number.data(), &given, 4, cudaMemcpyHostToDevice), cudaSuccess);
        const Outputs fast(p), slow(p);
        auto* const amax = reinterpret_cast<std::uint32_t*>(word.data());
        const auto job = [&](const Outputs& to) {
            return job_of(p, {values.data(), to.codes.data(), to.scales.data(), nullptr,
                              number.data(), to.kept.data()});
        };
        finish(quantize_real_scales(job(fast), amax, stream_));
        quantize_slowly(job(slow), amax);
        SCOPED_TRACE(std::to_string(p.extent.lines) + " x " + std::to_string(p.extent.lanes) +
                     " gap " + std::to_string(p.gap) + " type " +
                     std::to_string(static_cast<int>(p.type)) + " order " +
                     std::to_string(static_cast<int>(p.scales)) + " source " +
                     std::to_string(static_cast<int>(p.source)));
        EXPECT_TRUE(fast.codes.read() == slow.codes.read());
        EXPECT_TRUE(fast.scales.read() == slow.scales.read());
        EXPECT_TRUE(fast.kept.read() == slow.kept.read());
        EXPECT_TRUE(fast.margins_are_whole());
    }

    // Quantizes on both, and dequantizes on both what the host quantized.
    void check_against_host(const Problem& p) {
        const Sizes sizes(p);
        const Bytes values(sizes.values), random(sizes.random), word(4), number(4);
        fill(values, p);
        finish(fill_bits(random.data(), random.size(), 9, stream_));
        const float given = 3.0f;
        ASSERT_EQ(cudaMemcpy(number.data(), &given, 4, cudaMemcpyHostToDevice), cudaSuccess);
        const Outputs gpu(p);
        const auto job = job_of(p, {values.data(), gpu.codes.data(), gpu.scales.data(),
                                    random.data(), number.data(), gpu.kept.data()});
        finish(quantize_real_scales(job, reinterpret_cast<std::uint32_t*>(word.data()), stream_));

        std::vector<std::uint8_t> host_values = values.read(), host_random = random.read(),
                                  host_number = number.read();
        std::vector<std::uint8_t> codes(static_cast<std::size_t>(sizes.codes), poison),
            scales(static_cast<std::size_t>(sizes.scales), poison), kept(4, poison);
        RealScaleJob host_job = job_of(p, {host_values.data(), codes.data(), scales.data(),
                                           host_random.data(), host_number.data(), kept.data()});
        quantize_on_host(host_job, Arithmetic::general);
        EXPECT_TRUE(gpu.codes.read() == codes);
        if (p.has_f32_scales)
            EXPECT_TRUE(are_same_values(ValueType::f32, gpu.scales.read(), scales));
        else
            EXPECT_TRUE(gpu.scales.read() == scales);
        EXPECT_TRUE(are_same_values(ValueType::f32, gpu.kept.read(), kept));
        EXPECT_TRUE(gpu.margins_are_whole());

        const Bytes back(sizes.values);
        RealScaleJob back_job = job;
        back_job.values.data = back.data();
        finish(dequantize_real_scales(back_job, stream_));
        std::vector<std::uint8_t> host_back(host_values.size(), poison);
        host_job.values.data = host_back.data();
        dequantize_on_host(host_job);
        EXPECT_TRUE(are_same_values(p.type, back.read(), host_back));
        EXPECT_TRUE(back.margins_are_whole());
    }

    void check_pair(const RealScaleDialect& dialect, const RealScaleFormat& format,
                    ValueType type) {
        SCOPED_TRACE(std::string(dialect.name) + " " + std::string(format.name) + " type " +
                     std::to_string(static_cast<int>(type)));
        const bool has_number = dialect.rule.number != TensorNumber::none;
        const bool can_derive = has_number && dialect.rule.number != TensorNumber::given_as_scale;
        const bool is_packed = format.element == Element::e2m1;
        const Extent block{format.shape == BlockShape::line ? 1 : format.size, format.size};
        for (const bool is_derived : {false, true}) {
            if (is_derived && !can_derive) continue;
            const NumberSource source = !has_number  ? NumberSource::none
                                        : is_derived ? NumberSource::derived
                                                     : NumberSource::given;
            for (const Data data : {Data::bits, Data::normal})
                check_against_host({dialect.rule,
                                    type,
                                    format.element,
                                    block,
                                    format.has_f32_scales,
                                    {131, 272},
                                    3,
                                    0,
                                    is_packed ? CodeOrder::low_first : CodeOrder::bytes,
                                    ScaleOrder::strided,
                                    source,
                                    data});
        }
    }
};

TEST_F(RealScaleKernels, EveryRuleAsOnTheHost) {
    for (const RealScaleDialect& dialect : real_scale_dialects())
        for (const RealScaleFormat& format : real_scale_formats())
            for (const ValueType type : value_types)
                if ((dialect.formats & format.family) != 0 && (dialect.inputs & bit_of(type)) != 0)
                    check_pair(dialect, format, type);
}

TEST_F(RealScaleKernels, FastOnesAsTheGeneralOnes) {
    for (const RealScaleRule& rule :
         {te_nvfp4, torchao_nvfp4, torchao_nvfp4_single, cublaslt_nvfp4})
        for (const ValueType type : {ValueType::f32, ValueType::bf16})
            for (const std::int64_t lines : {1, 5, 127, 128, 300})
                for (const std::int64_t lanes : {16, 48, 64, 528, 1024, 2064, 4112})
                    for (const ScaleOrder order : {ScaleOrder::strided, ScaleOrder::tiles_128x4})
                        for (const std::int64_t gap : {0, 8}) {
                            const bool has_number = rule.number != TensorNumber::none;
                            const NumberSource source = !has_number ? NumberSource::none
                                                        : gap == 0  ? NumberSource::derived
                                                                    : NumberSource::given;
                            for (const Data data : {Data::bits, Data::normal})
                                check_fast_kernels({rule,
                                                    type,
                                                    Element::e2m1,
                                                    {1, 16},
                                                    false,
                                                    {lines, lanes},
                                                    gap,
                                                    0,
                                                    CodeOrder::low_first,
                                                    order,
                                                    source,
                                                    data});
                        }
}

// More lines than a grid has thread blocks below one another.
TEST_F(RealScaleKernels, MoreLinesThanAGridTakes) {
    for (const ScaleOrder order : {ScaleOrder::strided, ScaleOrder::tiles_128x4})
        check_fast_kernels({te_nvfp4,
                            ValueType::bf16,
                            Element::e2m1,
                            {1, 16},
                            false,
                            {grid_y_max * 128 + 130, 16},
                            8,
                            0,
                            CodeOrder::low_first,
                            order,
                            NumberSource::given,
                            Data::normal});
}

// Values and scales without a gap, which are one long line where codes have none either.
TEST_F(RealScaleKernels, CodesWithAGapBetweenTheirLines) {
    check_fast_kernels({te_nvfp4,
                        ValueType::f32,
                        Element::e2m1,
                        {1, 16},
                        false,
                        {5, 64},
                        0,
                        8,
                        CodeOrder::low_first,
                        ScaleOrder::strided,
                        NumberSource::given,
                        Data::normal});
}

}  // namespace
}  // namespace mx::cuda::test
