// See gemm_sweeps.hpp: which problems a family asks.
#include <array>
#include <string_view>
#include <utility>

#include "conformance/sweep/gemm_sweeps.hpp"

namespace mx::sweep {
namespace {

struct Types {
    ElementFormat a, b;
};
// cuBLASLt has no E5M2 x E5M2: it is asked all the same, so that its refusal is on record.
constexpr std::array fp8_pairs{
    Types{formats::e4m3, formats::e4m3}, Types{formats::e4m3, formats::e5m2},
    Types{formats::e5m2, formats::e4m3}, Types{formats::e5m2, formats::e5m2}};

struct Scales {
    FactorScaling a, b;
};
constexpr std::array fp8_scales{Scales{FactorScaling::tensor, FactorScaling::tensor},
                                Scales{FactorScaling::row, FactorScaling::row},
                                Scales{FactorScaling::f32_1x128, FactorScaling::f32_1x128},
                                Scales{FactorScaling::f32_1x128, FactorScaling::f32_128x128},
                                Scales{FactorScaling::f32_128x128, FactorScaling::f32_1x128}};

// FP8 comes out with scales of whole tensors alone, and E5M2 of pairs that have one.
std::vector<ElementFormat> outputs_of(const Types& types, const Scales& scales) {
    std::vector<ElementFormat> outputs{formats::f32, formats::bf16, formats::f16};
    if (scales.a != FactorScaling::tensor) return outputs;
    outputs.push_back(formats::e4m3);
    const bool has_e5m2 = types.a != formats::e4m3 || types.b != formats::e4m3;
    if (has_e5m2) outputs.push_back(formats::e5m2);
    return outputs;
}

// Scales of blocks have no fast accumulation.
std::vector<Accumulation> accumulations_of(const Scales& scales) {
    const bool is_block = row_of(scales.a).block != 0;
    if (is_block) return {Accumulation::by_default};
    return {Accumulation::by_default, Accumulation::fast};
}

constexpr std::uint32_t awkward_alpha = 0xBF9D70A4;  // -1.23
constexpr std::uint32_t awkward_beta = 0x3F451EB8;   // 0.77

// alpha, beta and epilogue: what may come after the sum.
struct After {
    std::uint32_t alpha, beta;
    EpilogueSteps epilogue = {};
};
constexpr std::array plain{After{0x3F800000, 0}};
constexpr std::array afters{
    After{0x3F800000, 0},
    After{awkward_alpha, 0},
    After{0x3F800000, 0x3F800000},
    After{awkward_alpha, awkward_beta},
};
constexpr EpilogueSteps bias{true, Activation::none};
constexpr EpilogueSteps relu{false, Activation::relu}, bias_relu{true, Activation::relu};
constexpr EpilogueSteps gelu{false, Activation::gelu}, bias_gelu{true, Activation::gelu};
constexpr std::array with_epilogue{After{awkward_alpha, 0, bias},
                                   After{0x3F800000, 0, bias},
                                   After{0x3F800000, 0, relu},
                                   After{awkward_alpha, 0, relu},
                                   After{awkward_alpha, awkward_beta, bias_relu},
                                   After{0x3F800000, 0, gelu},
                                   After{awkward_alpha, 0, gelu},
                                   After{0x3F800000, awkward_beta, gelu},
                                   After{awkward_alpha, awkward_beta, bias_gelu}};

// Where outputs overflow and vanish, and the products of scales and alpha do: 2^100, 2^-100 and 0.
constexpr std::uint32_t huge = 0x71800000, tiny = 0x0D800000, nothing = 0;
constexpr std::array wide_afters{
    After{0x3F800000, 0},       After{huge, awkward_beta},  After{tiny, 0},
    After{awkward_alpha, huge}, After{nothing, 0x3F800000}, After{nothing, 0},
};

// Binades over which the scales of factors are spread: their product ends near the ends of
// binary32, and far beyond.
constexpr std::array<std::uint32_t, 2> wide_binades{120, 250};

// Lengths along K that end inside a step and inside a promotion, and others that end with one.
constexpr std::array<std::int64_t, 13> depths{16,   32,   48,   144,   160,   272,  528,
                                              1040, 4112, 7680, 10240, 16384, 32768};

class FamilyMaker {
public:
    FamilyMaker(const GemmProblem& base, GemmEffort effort) : base_(base), effort_(effort) {}

    // Every kind of data, with everything that may come after.
    void add_data() {
        for (std::size_t data = 0; data < gemm_data_names.size(); ++data)
            for (const After& after : afters) add(after, 256, 256, 1024, data);
    }
    void add_depths() {
        for (const std::int64_t k : depths) add(plain[0], 128, 64, k, 3);
        if (effort_ == GemmEffort::quick) return;
        for (const std::int64_t k : depths)
            for (const std::int64_t m : {16, 272})
                for (const std::size_t data : {0u, 3u, 9u}) add(afters[3], m, 528, k, data);
    }
    // Few rows, as a product with a vector has.
    void add_few_rows() {
        if (effort_ == GemmEffort::quick) return;
        for (const std::int64_t m : {1, 7, 33})
            for (const std::int64_t k : {272, 4112})
                for (const std::size_t data : {0u, 3u}) add(afters[3], m, 64, k, data);
    }
    void add_large() {
        if (effort_ == GemmEffort::quick) return;
        add(plain[0], 2048, 2048, 1024, 0);
    }
    // Outputs beyond the ends of binary32, and scales whose products are.
    void add_wide() {
        const bool is_short =
            effort_ == GemmEffort::quick || base_.a.scaling == FactorScaling::none;
        for (const std::uint32_t binades : wide_binades) {
            for (const std::size_t data : {0u, 4u, 8u})
                for (std::size_t i = 0; i < wide_afters.size(); ++i) {
                    add(wide_afters[i], 64, 64, 272, data);
                    gemms_.back().draw.scale_binades = binades;
                    // A tensor has one scale: another each time.
                    gemms_.back().draw.seed += (binades * wide_afters.size() + i) << 32;
                }
            if (is_short) break;
        }
    }
    // C of the other type that an output of FP8 takes.
    void add_half_addends() {
        base_.c = formats::f16;
        for (const std::size_t data : {0u, 3u, 8u}) add(afters[3], 128, 64, 272, data);
        base_.c.reset();
    }
    // Factors without a scale, which is a scale of 1.
    void add_unscaled() {
        base_.a.scaling = base_.b.scaling = FactorScaling::none;
        for (const std::size_t data : {0u, 8u}) add(afters[3], 128, 64, 272, data);
        base_.a.scaling = base_.b.scaling = FactorScaling::tensor;
    }
    void add_epilogues() {
        for (const After& after : with_epilogue) {
            add(after, 256, 256, 512, 0);
            // Sums of nothing, which may be of either sign, by algorithms that split K.
            add(after, 64, 64, 8192, 9);
        }
    }
    void add_batches() {
        base_.batches = 5;
        add(afters[3], 64, 128, 384, 3);
        base_.batches = 1;
    }
    std::vector<DrawnGemm> take() { return std::move(gemms_); }

private:
    void add(const After& after, std::int64_t m, std::int64_t n, std::int64_t k, std::size_t data) {
        GemmProblem gemm = base_;
        // Where the range is narrow, 2^-10 of alpha keeps most outputs inside.
        const bool is_lowered = gemm.output.element.exponent_bits < 8 && after.alpha != nothing;
        gemm.alpha = after.alpha - (is_lowered ? 10u << 23 : 0);
        gemm.beta = after.beta;
        gemm.epilogue = after.epilogue;
        gemm.m = m;
        gemm.n = n;
        gemm.k = k;
        // The same for quick and full.
        const std::uint64_t seed = static_cast<std::uint64_t>(m * 31 + k) * 16 + data;
        gemms_.push_back({gemm, {static_cast<GemmData>(data), seed}});
    }

    GemmProblem base_;
    GemmEffort effort_;
    std::vector<DrawnGemm> gemms_;
};

GemmFamily family_of(const GemmProblem& base, GemmEffort effort) {
    GemmFamily family;
    const auto name = [](const auto& row) { return std::string(row.name); };
    const bool has_scales = base.a.scaling != FactorScaling::none;
    family.name = "gemm " + name(base.a.element) + " x " + name(base.b.element) + " to " +
                  name(base.output.element);
    if (has_scales)
        family.name +=
            ", scales " + name(row_of(base.a.scaling)) + " x " + name(row_of(base.b.scaling));
    if (base.accumulation == Accumulation::fast) family.name += ", fast";
    FamilyMaker maker(base, effort);
    maker.add_data();
    maker.add_depths();
    maker.add_few_rows();
    maker.add_large();
    maker.add_wide();
    const bool is_tensor = base.a.scaling == FactorScaling::tensor;
    maker.add_epilogues();
    if (is_tensor || !has_scales) maker.add_batches();
    if (is_tensor) maker.add_unscaled();
    if (base.output.element.code_bits() == 8) maker.add_half_addends();
    family.gemms = maker.take();
    family.domain = std::to_string(family.gemms.size()) +
                    " problems: " + std::to_string(gemm_data_names.size()) +
                    " kinds of data, with and without C and alpha, K from 16 to 32768, "
                    "by every algorithm offered";
    return family;
}

// Spreads of the scales of MX blocks: sums of all sizes; those that bfloat16 still holds; and every
// byte but that of NaN, where sums mostly overflow or vanish, so that K is short.
struct MxSpread {
    std::uint32_t binades;
    std::int64_t k;
};
constexpr std::array mx_spreads{MxSpread{8, 1024}, MxSpread{60, 512}, MxSpread{255, 64}};

// Rows and columns of whole and of broken tiles.
struct MxShape {
    std::int64_t m, n;
};
constexpr std::array mx_shapes{MxShape{128, 64}, MxShape{16, 528}, MxShape{272, 260},
                               MxShape{1, 37}};
// A GEMM of many tiles may be done by another kernel than a small one, as device/hopper does: 180
// rows make two tiles of 128 and one of 192, and 132 such columns as many as there are
// multiprocessors.
constexpr MxShape mx_wide{180, 16800};
constexpr std::array<std::int64_t, 3> mx_large_depths{32, 96, 144};

class MxFamilyMaker {
public:
    MxFamilyMaker(const GemmProblem& base, GemmEffort effort) : base_(base), effort_(effort) {}

    std::vector<DrawnGemm> take() {
        for (const MxSpread& spread : mx_spreads)
            for (std::size_t data = 0; data < gemm_data_names.size(); ++data)
                for (const After& after : afters) add(after, 256, 256, spread.k, data, spread);
        for (const std::int64_t k : depths)
            for (const MxShape& shape : mx_shapes)
                add(afters[3], shape.m, shape.n, k, 3, mx_spreads[0]);
        for (const MxSpread& spread : mx_spreads)
            for (std::size_t data = 0; data < gemm_data_names.size(); ++data)
                add(afters[3], mx_wide.m, mx_wide.n, data == 0 ? spread.k : 144, data, spread);
        base_.batches = 5;
        add(afters[3], 64, 128, 384, 3, mx_spreads[0]);
        base_.batches = 1;
        if (effort_ == GemmEffort::full) add_large();
        return std::move(gemms_);
    }

private:
    void add_large() {
        for (const MxSpread& spread : mx_spreads)
            for (const std::int64_t k : mx_large_depths)
                for (const std::size_t data : {0u, 3u}) add(plain[0], 4096, 4096, k, data, spread);
    }
    void add(const After& after, std::int64_t m, std::int64_t n, std::int64_t k, std::size_t data,
             const MxSpread& spread) {
        GemmProblem gemm = base_;
        gemm.alpha = after.alpha;
        gemm.beta = after.beta;
        gemm.m = m;
        gemm.n = n;
        gemm.k = k;
        const std::uint64_t seed =
            static_cast<std::uint64_t>(m * 31 + k) * 4096 + spread.binades * 16 + data;
        gemms_.push_back({gemm, {static_cast<GemmData>(data), seed, spread.binades}});
    }

    GemmProblem base_;
    GemmEffort effort_;
    std::vector<DrawnGemm> gemms_;
};

}  // namespace

std::vector<GemmFamily> gemm_families(GemmEffort effort) {
    std::vector<GemmFamily> families;
    for (const Types& types : fp8_pairs)
        for (const Scales& scales : fp8_scales)
            for (const ElementFormat& output : outputs_of(types, scales))
                for (const Accumulation accumulation : accumulations_of(scales)) {
                    GemmProblem base{.a = {types.a, scales.a}, .b = {types.b, scales.b}};
                    base.output.element = output;
                    base.accumulation = accumulation;
                    families.push_back(family_of(base, effort));
                }
    for (const ElementFormat& half : {formats::bf16, formats::f16})
        for (const ElementFormat& output : {formats::f32, half})
            families.push_back(family_of({.a = {half}, .b = {half}, .output = {output}}, effort));
    return families;
}

std::vector<GemmFamily> mx_gemm_families(GemmEffort effort) {
    constexpr FactorType e4m3{formats::e4m3, FactorScaling::e8m0_1x32};
    constexpr FactorType e5m2{formats::e5m2, FactorScaling::e8m0_1x32};
    std::vector<GemmFamily> families;
    for (const FactorType& a : {e4m3, e5m2})
        for (const FactorType& b : {e4m3, e5m2})
            for (const ElementFormat& output : {formats::f32, formats::bf16}) {
                GemmFamily family;
                family.name =
                    "gemm " + name_of(a) + " x " + name_of(b) + " to " + std::string(output.name);
                family.gemms = MxFamilyMaker({.a = a, .b = b, .output = {output}}, effort).take();
                family.domain = std::to_string(family.gemms.size()) +
                                " problems: " + std::to_string(gemm_data_names.size()) +
                                " kinds of data, scales over 8, 60 and all binades, with and "
                                "without C and alpha, K from 16 to 32768, by every algorithm";
                families.push_back(std::move(family));
            }
    return families;
}

}  // namespace mx::sweep
