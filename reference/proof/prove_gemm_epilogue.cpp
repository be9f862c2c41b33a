// fast/gemm_epilogue.hpp: the fused multiply-add with product and addend up to 80 binades apart;
// and every epilogue over combinations of the borders of its operands. Its other operations are
// those of fast/f32_arithmetic.hpp, which prove_real_scale.cpp covers.
#include <array>

#include "reference/exact/f32_arithmetic.hpp"
#include "reference/exact/gemm_epilogue.hpp"
#include "reference/fast/gemm_epilogue.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

// Significands of binary32: one, its neighbours, ties to come, and all ones.
constexpr std::array<std::uint32_t, 8> mantissas{0,        1,        0x400000, 0x400001,
                                                 0x7FFFFF, 0x7FFFFE, 0x555555, 0x000800};

struct Three {
    Code left, right, addend;
};

// The product near 1, the addend so many binades above or below it; or both near the least number.
constexpr std::uint32_t distances = 161;
constexpr std::uint32_t fused_cases = 8 * 8 * 8 * 2 * distances * 2;

Three three_of(std::uint32_t i) {
    const auto next = [&i](std::uint32_t count) {
        const std::uint32_t digit = i % count;
        i /= count;
        return digit;
    };
    const std::uint32_t left = mantissas[next(8)], right = mantissas[next(8)];
    const std::uint32_t addend = mantissas[next(8)] | next(2) << 31;
    const std::uint32_t distance = next(distances);
    const bool is_small = i != 0;
    const std::uint32_t product_exponent = is_small ? 127u - 140u + distance / 4 : 127u;
    if (is_small)
        return {{(127u - 70) << 23 | left},
                {(product_exponent + 70) << 23 | right},
                {(distance % 4 << 23) | addend}};
    return {{127u << 23 | left}, {127u << 23 | right}, {(127 - 80 + distance) << 23 | addend}};
}

Proof fused_proof() {
    return {"fused multiply-add", "every distance up to 80 binades, and results below 2^-126",
            [](int threads) {
                const ElementFormat f32 = formats::f32;
                return compare_everywhere(
                    fused_cases, threads,
                    [&](std::uint32_t i) {
                        const Three x = three_of(i);
                        const exact::Value value = exact::plus(
                            exact::times(exact::decode(f32, x.left), exact::decode(f32, x.right)),
                            exact::decode(f32, x.addend));
                        return exact::round(f32, Rounding::nearest_even, Overflow::overflow, value)
                            .bits;
                    },
                    [&](std::uint32_t i) {
                        const Three x = three_of(i);
                        return fast::round(f32, Rounding::nearest_even, Overflow::overflow,
                                           fast::fused_multiply_add(fast::unpack(f32, x.left),
                                                                    fast::unpack(f32, x.right),
                                                                    fast::unpack(f32, x.addend)))
                            .bits;
                    });
            }};
}

constexpr std::array<std::uint32_t, 16> borders{
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3F800001, 0x40490FDB, 0x00000001, 0x807FFFFF,
    0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x34000001, 0xC2C80003};

// Which border each operand has in combination `i`: all sixteen of each, mixed by a multiplier.
struct Combination {
    EpilogueOperands operands;
    Code accumulator;
};

Combination combination(std::uint32_t i, const GemmEpilogue& epilogue) {
    std::uint64_t state = (i + 1) * 0x9E3779B97F4A7C15u;
    const auto next = [&state] {
        state ^= state >> 29;
        state *= 0xBF58476D1CE4E5B9u;
        return Code{borders[state >> 60]};
    };
    const auto narrowed = [](const ElementFormat& format, Code code) {
        return Code{code.bits >> (32 - format.code_bits())};
    };
    return {{next(), next(), next(), next(), narrowed(epilogue.addend, next()),
             narrowed(epilogue.bias, next()), next()},
            next()};
}

std::vector<GemmEpilogue> epilogues() {
    std::vector<GemmEpilogue> all;
    for (const char* output : {"f32", "bf16", "f16", "e4m3", "e5m2"})
        for (const FactorScales scales :
             {FactorScales::none, FactorScales::in_alpha, FactorScales::on_accumulator,
              FactorScales::in_accumulator})
            for (const GemmKernel kernel : {GemmKernel::one, GemmKernel::adds_parts})
                for (const Activation activation :
                     {Activation::none, Activation::relu, Activation::gelu})
                    for (const bool adds_bias : {false, true}) {
                        GemmEpilogue epilogue;
                        epilogue.output = *find_element_format(output);
                        epilogue.addend = epilogue.is_narrow() ? formats::bf16 : epilogue.output;
                        epilogue.scales = scales;
                        epilogue.kernel = kernel;
                        epilogue.activation = activation;
                        epilogue.adds_bias = adds_bias;
                        all.push_back(epilogue);
                        epilogue.scales_output = true;
                        const bool is_f32 = epilogue.output.name == formats::f32.name;
                        if (epilogue.is_narrow() || is_f32) all.push_back(epilogue);
                    }
    return all;
}

Proof epilogue_proof() {
    return {"gemm epilogues",
            "16 borders of every operand, 4,096 combinations for each of 384 epilogues",
            [](int threads) {
                std::vector<Report> reports;
                for (const GemmEpilogue& epilogue : epilogues())
                    reports.push_back(compare_everywhere(
                        4096, threads,
                        [&](std::uint32_t i) {
                            const Combination x = combination(i, epilogue);
                            return exact::finish(epilogue, x.operands,
                                                 exact::decode(formats::f32, x.accumulator))
                                .bits;
                        },
                        [&](std::uint32_t i) {
                            const Combination x = combination(i, epilogue);
                            return fast::finish(epilogue, x.operands,
                                                fast::unpack(formats::f32, x.accumulator))
                                .bits;
                        }));
                return joined(reports);
            }};
}

// An accumulator of bfloat16 and nothing but GELU after it.
Proof gelu_proof(const char* name, GemmKernel kernel) {
    return {
        name, all_codes_of(formats::bf16), [kernel](int threads) {
            const GemmEpilogue epilogue{.kernel = kernel, .activation = Activation::gelu};
            return compare_everywhere(
                1u << 16, threads,
                [&](std::uint32_t i) {
                    return exact::finish(epilogue, {}, exact::decode(formats::bf16, Code{i})).bits;
                },
                [&](std::uint32_t i) {
                    return fast::finish(epilogue, {}, fast::unpack(formats::bf16, Code{i})).bits;
                });
        }};
}

}  // namespace

std::vector<Proof> gemm_epilogue_proofs() {
    return {fused_proof(), epilogue_proof(), gelu_proof("gelu", GemmKernel::one),
            gelu_proof("gelu of parts", GemmKernel::adds_parts)};
}

}  // namespace mx::proof
