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
};

// Both overflow rules are proved in one sweep: their codes side by side.
constexpr std::uint64_t both(Code saturating, Code overflowing) {
    return saturating.bits | std::uint64_t{overflowing.bits} << 32;
}

std::uint64_t exact_codes(const Conversion& c, std::uint32_t bits) {
    const exact::Value value = exact::decode(c.input, Code{bits});
    return both(exact::round(c.format, c.rounding, Overflow::saturate, value),
                exact::round(c.format, c.rounding, Overflow::overflow, value));
}

MX_FOLDED constexpr std::uint64_t fast_codes(const ElementFormat& input,
                                             const ElementFormat& format, Rounding rounding,
                                             std::uint32_t bits) {
    const fast::Unpacked value = fast::unpack(input, Code{bits});
    return both(fast::round(format, rounding, Overflow::saturate, value),
                fast::round(format, rounding, Overflow::overflow, value));
}

// Magnitudes grow with codes, so each sign's finite values and infinity are one monotone stretch;
// the NaN codes behind it are another.
std::vector<exact::Run> exact_runs(const Conversion& c) {
    std::vector<exact::Run> runs;
    const auto ask = [&c](std::uint32_t bits) { return exact_codes(c, bits); };
    for (const std::uint32_t sign : {std::uint32_t{0}, c.input.code_sign_mask()}) {
        append_runs(runs, exact::runs_of(sign, sign | c.input.code_infinity(), ask));
        append_runs(runs, exact::runs_of(sign | (c.input.code_infinity() + 1),
                                         sign | c.input.code_magnitude_mask(), ask));
    }
    return runs;
}

// The formats are template arguments only so that the compiler can fold them into the loop.
template <std::size_t Input, std::size_t Format>
Report sweep_nearest_even(int threads) {
    const Conversion conversion{element_formats[Input], element_formats[Format],
                                Rounding::nearest_even};
    return sweep(exact_runs(conversion), threads, [](std::uint32_t bits) {
        constexpr ElementFormat input = element_formats[Input];
        constexpr ElementFormat format = element_formats[Format];
        return fast_codes(input, format, Rounding::nearest_even, bits);
    });
}

Report sweep_any(const Conversion& c, int threads) {
    return sweep(exact_runs(c), threads, [&c](std::uint32_t bits) {
        return fast_codes(c.input, c.format, c.rounding, bits);
    });
}

std::string domain_of(const ElementFormat& input) {
    return "all 2^" + std::to_string(input.code_bits()) + " codes of " + std::string(input.name) +
           ", saturating and not";
}

constexpr std::size_t index_of(std::string_view name) {
    std::size_t index = 0;
    while (element_formats[index].name != name) ++index;
    return index;
}

template <std::size_t Format>
Proof f32_proof() {
    constexpr std::size_t f32 = index_of("f32");
    return {"round " + std::string(element_formats[Format].name) + " nearest_even f32",
            domain_of(formats::f32), sweep_nearest_even<f32, Format>};
}

}  // namespace

std::vector<Proof> round_proofs() {
    std::vector<Proof> proofs{f32_proof<index_of("e4m3")>(), f32_proof<index_of("e5m2")>()};
    for (const ElementFormat& format : {formats::e4m3, formats::e5m2})
        for (const ElementFormat& input : {formats::bf16, formats::f16})
            for (const auto& [name, rounding] : roundings) {
                const Conversion conversion{input, format, rounding};
                proofs.push_back({"round " + std::string(format.name) + " " + std::string(name) +
                                      " " + std::string(input.name),
                                  domain_of(input), [conversion](int threads) {
                                      return sweep_any(conversion, threads);
                                  }});
            }
    return proofs;
}

}  // namespace mx::proof
