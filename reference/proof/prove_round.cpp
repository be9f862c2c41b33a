// fast/round.hpp: every input code of f32, bf16 and f16 rounded to every format of 8 bits and less
// in every rounding, saturating and not. The exact oracle gives the runs of equal results by
// bisection; fast is swept over all of them.
#include "reference/proof/exact_runs.hpp"
#include "reference/proof/stretch.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/formats.hpp"

namespace mx::proof {
namespace {

std::uint64_t fast_codes(const Conversion& c, std::uint32_t bits) {
    const fast::Unpacked value = fast::unpack(c.input, Code{bits});
    return both(fast::round(c.format, c.rounding, Overflow::saturate, value, c.random),
                fast::round(c.format, c.rounding, Overflow::overflow, value, c.random));
}

fast::Target target_of(const Conversion& c, Overflow overflow, const fast::Unpacked& first) {
    return fast::target_of(c.format, overflow, {c.rounding, c.random, first.negative},
                           {first.exponent, fast::bit_width(first.significand)});
}

// A piece lies within one binade. If that is a binade of normal values, unpack gives them one
// exponent, one width and consecutive significands, as prove_decode shows for all codes of f32;
// then the piece is one stretch. Subnormals and what is not finite are asked one by one.
Report compare_piece(const Conversion& c, const exact::Run& piece) {
    const fast::Unpacked first = fast::unpack(c.input, Code{piece.first});
    const bool is_normal =
        first.kind == fast::Kind::finite && first.significand > c.input.code_mantissa_mask();
    if (is_normal) {
        const Stretch stretch{c.format, target_of(c, Overflow::saturate, first),
                              target_of(c, Overflow::overflow, first), first.significand,
                              piece.last - piece.first + 1};
        const BothCodes expected{static_cast<std::uint32_t>(piece.result),
                                 static_cast<std::uint32_t>(piece.result >> 32)};
        if (all_round_to(stretch, expected)) {
            Report report;
            report.count = stretch.count;
            return report;
        }
    }
    Report report = sweep_run(piece, [&c](std::uint32_t bits) { return fast_codes(c, bits); });
    // The stretch saw a difference that the function itself does not show: no proof either way.
    if (is_normal && report.mismatches == 0) {
        report.mismatches = 1;
        report.counterexamples.push_back("the sweep from " + to_hex(piece.first) + " to " +
                                         to_hex(piece.last) +
                                         " differs from the function it sweeps");
    }
    return report;
}

Report prove_conversion(const Conversion& c, int threads) {
    return compare_pieces(exact_roundings(c), piece_length(c.input), threads,
                          [&c](const exact::Run& piece) { return compare_piece(c, piece); });
}

// The given bits that a stochastic rounding is proved with: the ends and the middle of four widths,
// and from 16-bit inputs every value of eight bits.
std::vector<RandomBits> random_cases(const ElementFormat& input) {
    std::vector<RandomBits> cases;
    for (const int count : {1, 8, 16, 32}) {
        const std::uint32_t middle = std::uint32_t{1} << (count - 1);
        for (const std::uint32_t bits : {0u, middle - 1, middle, middle | (middle - 1)})
            cases.push_back({bits, count});
    }
    if (input.code_bits() == 16)
        for (std::uint32_t bits = 0; bits < 256; ++bits) cases.push_back({bits, 8});
    return cases;
}

Report prove_rounding(const Conversion& conversion, int threads) {
    if (conversion.rounding != Rounding::stochastic) return prove_conversion(conversion, threads);
    const std::vector<RandomBits> cases = random_cases(conversion.input);
    std::vector<Report> parts(cases.size());
    const bool is_large = conversion.input.code_bits() == 32;
    parallel_for(cases.size(), is_large ? 1 : threads, [&](std::size_t i) {
        Conversion with_bits = conversion;
        with_bits.random = cases[i];
        parts[i] = prove_conversion(with_bits, is_large ? threads : 1);
    });
    return joined(parts);
}

std::string domain_of(const Conversion& c) {
    std::string domain =
        takes_sign(c.format) ? all_codes_of(c.input) : codes_without_sign_of(c.input);
    if (c.rounding == Rounding::stochastic)
        domain += " x " + std::to_string(random_cases(c.input).size()) + " given random bits";
    return domain + ", saturating and not";
}

Proof proof_of(const Conversion& c, std::string_view rounding) {
    const bool is_large = c.input.code_bits() == 32;
    return {"round " + std::string(c.format.name) + " " + std::string(rounding) + " " +
                std::string(c.input.name),
            domain_of(c), [c](int threads) { return prove_rounding(c, threads); },
            is_large && c.rounding != Rounding::nearest_even ? Effort::whole_set : Effort::always};
}

}  // namespace

std::vector<Proof> round_proofs() {
    std::vector<Proof> proofs;
    for (const ElementFormat& format : element_formats) {
        if (format.code_bits() > 8) continue;
        for (const std::string_view input : input_types)
            for (const auto& [name, rounding] : roundings)
                proofs.push_back(proof_of({*find_element_format(input), format, rounding}, name));
    }
    return proofs;
}

}  // namespace mx::proof
