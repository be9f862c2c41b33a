// fast/round.hpp: every input code of f32, bf16 and f16 rounded to every 8-bit format, saturating
// and not. The exact oracle gives the runs of equal results by bisection; fast is swept over all of
// them. Nearest-even from f32 is the whole 2^32; the other modes are proved from the 2^16 inputs.
#include "reference/exact/round.hpp"
#include "reference/fast/round.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/formats.hpp"

namespace mx::proof {
namespace {

struct Conversion {
    ElementFormat input;
    ElementFormat format;
    Rounding rounding;
    Overflow overflow;
};

std::uint32_t exact_code(const Conversion& c, std::uint32_t bits) {
    return exact::round(c.format, c.rounding, c.overflow, exact::decode(c.input, Code{bits})).bits;
}

// Magnitudes grow with codes, so each sign's finite values and infinity are one monotone stretch;
// the NaN codes behind it are another.
std::vector<exact::Run> exact_runs(const Conversion& c) {
    std::vector<exact::Run> runs;
    const auto ask = [&c](std::uint32_t bits) { return exact_code(c, bits); };
    for (const std::uint32_t sign : {std::uint32_t{0}, c.input.code_sign_mask()}) {
        append_runs(runs, exact::runs_of(sign, sign | c.input.code_infinity(), ask));
        append_runs(runs, exact::runs_of(sign | (c.input.code_infinity() + 1),
                                         sign | c.input.code_magnitude_mask(), ask));
    }
    return runs;
}

// The format and mode are template arguments only so that the compiler can fold them into the loop.
template <std::size_t Input, std::size_t Format, Overflow overflow>
Report sweep_nearest_even(int threads) {
    static constexpr ElementFormat input = element_formats[Input];
    static constexpr ElementFormat format = element_formats[Format];
    const Conversion conversion{input, format, Rounding::nearest_even, overflow};
    return sweep(exact_runs(conversion), threads, [](std::uint32_t bits) {
        return fast::round(format, Rounding::nearest_even, overflow,
                           fast::unpack(input, Code{bits}))
            .bits;
    });
}

Report sweep_any(const Conversion& c, int threads) {
    return sweep(exact_runs(c), threads, [&c](std::uint32_t bits) {
        return fast::round(c.format, c.rounding, c.overflow, fast::unpack(c.input, Code{bits}))
            .bits;
    });
}

std::string domain_of(const ElementFormat& input) {
    return "all 2^" + std::to_string(input.code_bits()) + " codes of " + std::string(input.name);
}

constexpr std::size_t index_of(std::string_view name) {
    std::size_t index = 0;
    while (element_formats[index].name != name) ++index;
    return index;
}

template <std::size_t Format>
void add_f32_proofs(std::vector<Proof>& proofs) {
    constexpr std::size_t f32 = index_of("f32");
    const std::string name = "round " + std::string(element_formats[Format].name);
    proofs.push_back({name + " nearest_even saturate f32", domain_of(formats::f32),
                      sweep_nearest_even<f32, Format, Overflow::saturate>});
    proofs.push_back({name + " nearest_even overflow f32", domain_of(formats::f32),
                      sweep_nearest_even<f32, Format, Overflow::overflow>});
}

}  // namespace

std::vector<Proof> round_proofs() {
    std::vector<Proof> proofs;
    add_f32_proofs<index_of("e4m3")>(proofs);
    add_f32_proofs<index_of("e5m2")>(proofs);
    for (const ElementFormat& format : {formats::e4m3, formats::e5m2})
        for (const ElementFormat& input : {formats::bf16, formats::f16})
            for (const auto& [rounding_name, rounding] : roundings)
                for (const auto& [overflow_name, overflow] : overflows) {
                    const Conversion conversion{input, format, rounding, overflow};
                    proofs.push_back(
                        {"round " + std::string(format.name) + " " + std::string(rounding_name) +
                             " " + std::string(overflow_name) + " " + std::string(input.name),
                         domain_of(input),
                         [conversion](int threads) { return sweep_any(conversion, threads); }});
                }
    return proofs;
}

}  // namespace mx::proof
