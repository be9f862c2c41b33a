// Could the GEMMs that are asked have shown a wrong model? Some outputs of every GEMM are worked
// out here by the model and by wrong ones, as the kernel on the GPU does it.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "conformance/sweep/gemm_sweeps.hpp"
#include "reference/fast/dot_model.hpp"
#include "reference/fast/gemm_epilogue.hpp"
#include "reference/proof/gemm_rows.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::sweep {
namespace {

struct WrongModel {
    const char* name;
    void (*spoil)(GemmModel& model, GemmEpilogue& epilogue);
};
const std::array wrong_models{
    WrongModel{"zeros counted",
               [](GemmModel& m, GemmEpilogue&) { m.zero_products = ZeroProducts::counted; }},
    WrongModel{"a bit less", [](GemmModel& m, GemmEpilogue&) { --m.fraction_bits; }},
    WrongModel{"a bit more", [](GemmModel& m, GemmEpilogue&) { ++m.fraction_bits; }},
    WrongModel{"half a step", [](GemmModel& m, GemmEpilogue&) { m.products /= 2; }},
    WrongModel{"steps to nearest",
               [](GemmModel& m, GemmEpilogue&) { m.rounding = Rounding::nearest_even; }},
    WrongModel{"other promotion",
               [](GemmModel& m, GemmEpilogue&) { m.promotion = m.promotion == 0 ? 128 : 64; }},
    WrongModel{"other term fused",
               [](GemmModel&, GemmEpilogue& e) { e.kernel = GemmKernel::adds_parts; }},
};

CodeRow row_of(const DrawnGemm& s, GemmPart part, std::uint64_t row) {
    CodeRow codes{(part == GemmPart::a ? s.gemm.a : s.gemm.b).element, {}};
    for (std::int64_t k = 0; k < s.gemm.k; ++k)
        codes.codes.push_back(gemm_code(s.draw.data, codes.element,
                                        {s.draw.seed, static_cast<std::uint32_t>(part), row,
                                         static_cast<std::uint64_t>(k)})
                                  .bits);
    return codes;
}

EpilogueOperands operands_of(const DrawnGemm& s, const GemmEpilogue& epilogue, std::uint64_t row,
                             std::uint64_t column) {
    const auto number = [&](GemmPart part, const ElementFormat& format, std::uint64_t r,
                            std::uint64_t c) {
        const bool is_factor = part == GemmPart::scales_a || part == GemmPart::scales_b;
        const std::uint32_t binades = is_factor ? s.draw.scale_binades : binades_of(part);
        return gemm_number(s.draw.data, format,
                           {s.draw.seed, static_cast<std::uint32_t>(part), r, c}, binades);
    };
    EpilogueOperands operands{.alpha = Code{s.gemm.alpha}, .beta = Code{s.gemm.beta}};
    const bool by_row = epilogue.scales == FactorScales::on_accumulator;
    if (epilogue.has_scales()) {
        operands.scale_a = number(GemmPart::scales_a, formats::f32, by_row ? row : 0, 0);
        operands.scale_b = number(GemmPart::scales_b, formats::f32, by_row ? column : 0, 0);
    }
    if (s.gemm.reads_c()) operands.c = number(GemmPart::c, epilogue.addend, row, column);
    if (epilogue.adds_bias) operands.bias = number(GemmPart::bias, epilogue.bias, 0, column);
    if (epilogue.scales_output)
        operands.scale_out = number(GemmPart::scale_out, formats::f32, 0, 0);
    return operands;
}

// How often each wrong model gives other bits, over a few outputs of every short GEMM.
std::map<std::string, int> seen_in(const GemmFamily& family) {
    std::map<std::string, int> seen;
    for (const DrawnGemm& s : family.gemms) {
        if (s.gemm.k > 1024 || s.gemm.batches != 1) continue;
        const GemmModelled right = modelled(s, "", 90).value();
        for (std::uint64_t i = 0; i < 3; ++i)
            for (std::uint64_t j = 0; j < 3; ++j) {
                const CodeRow a = row_of(s, GemmPart::a, i), b = row_of(s, GemmPart::b, j);
                const auto bits_by = [&](const GemmModel& model, const GemmEpilogue& epilogue) {
                    return fast::finish(epilogue, operands_of(s, epilogue, i, j),
                                        fast::accumulate(model, a.row(), b.row(), s.gemm.k, {}))
                        .bits;
                };
                const std::uint32_t expected = bits_by(gemm_models[right.model], right.epilogue);
                for (const WrongModel& wrong : wrong_models) {
                    GemmModel model = gemm_models[right.model];
                    GemmEpilogue epilogue = right.epilogue;
                    wrong.spoil(model, epilogue);
                    seen[wrong.name] += bits_by(model, epilogue) != expected;
                }
            }
    }
    return seen;
}

// Finite factors, none of whose products is beyond binary32, come out at both of its ends.
TEST(GemmPower, WideScalesOverflowAndUnderflow) {
    int families = 0;
    for (const GemmFamily& family : gemm_families(GemmEffort::full)) {
        const bool is_asked = family.name == "gemm e4m3 x e5m2 to f32, scales tensor x tensor" ||
                              family.name == "gemm e4m3 x e4m3 to f32, scales row x row, fast";
        if (!is_asked) continue;
        ++families;
        int infinite = 0, subnormal = 0, vanished = 0;
        for (const DrawnGemm& s : family.gemms) {
            const bool is_wide = s.draw.scale_binades != 8 && s.gemm.alpha << 1 != 0;
            if (!is_wide || s.draw.data == GemmData::special) continue;
            const GemmModelled right = modelled(s, "", 90).value();
            for (std::uint64_t i = 0; i < 16; ++i) {
                const CodeRow a = row_of(s, GemmPart::a, i), b = row_of(s, GemmPart::b, i);
                const fast::Unpacked sum =
                    fast::accumulate(gemm_models[right.model], a.row(), b.row(), s.gemm.k, {});
                if (sum.kind != fast::Kind::finite || sum.significand == 0) continue;
                const std::uint32_t d =
                    fast::finish(right.epilogue, operands_of(s, right.epilogue, i, i), sum).bits &
                    0x7FFFFFFF;
                infinite += d == 0x7F800000;
                subnormal += d != 0 && d < 0x00800000;
                vanished += d == 0;
            }
        }
        EXPECT_GT(infinite, 10) << family.name;
        EXPECT_GT(subnormal, 0) << family.name;
        EXPECT_GT(vanished, 10) << family.name;
    }
    EXPECT_EQ(families, 2);
}

// Outputs of 32 bits show everything. Narrow ones hide most of what is wrong below their last bit,
// so that among these few outputs not every wrong model need be seen.
TEST(GemmPower, EveryWrongModelIsSeenInBinary32) {
    int families = 0;
    for (const GemmFamily& family : gemm_families(GemmEffort::quick)) {
        const bool is_asked = family.name == "gemm e4m3 x e5m2 to f32, scales tensor x tensor" ||
                              family.name == "gemm e4m3 x e4m3 to f32, scales row x row, fast" ||
                              family.name == "gemm bf16 x bf16 to f32" ||
                              family.name == "gemm f16 x f16 to f32";
        if (!is_asked) continue;
        ++families;
        const auto seen = seen_in(family);
        for (const WrongModel& wrong : wrong_models)
            EXPECT_GT(seen.at(wrong.name), 0) << family.name << ": " << wrong.name;
    }
    EXPECT_EQ(families, 4);
}

}  // namespace
}  // namespace mx::sweep
