// fast/round.hpp: every input code of f32, bf16 and f16 rounded to every format of 8 bits and less
// in every rounding, saturating and not. The exact oracle gives the runs of equal results, asked at
// their borders from f32 and everywhere from 16 bits; fast is swept over all of them.
#include <algorithm>
#include <utility>

#include "reference/exact/round.hpp"
#include "reference/proof/exact_runs.hpp"
#include "reference/proof/stretch.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/formats.hpp"

namespace mx::proof {
namespace {

constexpr std::uint64_t fast_codes(const Conversion& c, std::uint32_t bits, RandomBits random) {
    const fast::Unpacked value = fast::unpack(c.input, Code{bits});
    return both(fast::round(c.format, c.rounding, Overflow::saturate, value, random),
                fast::round(c.format, c.rounding, Overflow::overflow, value, random));
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
    Report report =
        sweep_run(piece, [&c](std::uint32_t bits) { return fast_codes(c, bits, c.random); });
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

// No block has such elements: FNUZ, and scales that are not E8M0.
constexpr bool is_no_element_of_blocks(const ElementFormat& format) {
    return format.specials == Specials::nan_for_negative_zero || format == formats::ue5m3;
}

// Nothing rounds a scale of UE5M3 by random bits.
bool are_asked(const ElementFormat& format, Rounding rounding) {
    return format != formats::ue5m3 || rounding != Rounding::stochastic;
}

Proof proof_of(const Conversion& c, std::string_view rounding) {
    const bool is_large = c.input.code_bits() == 32;
    const bool is_rare =
        is_no_element_of_blocks(c.format) && (is_large || c.rounding == Rounding::stochastic);
    return {"round " + std::string(c.format.name) + " " + std::string(rounding) + " " +
                std::string(c.input.name),
            domain_of(c), [c](int threads) { return prove_rounding(c, threads); },
            is_rare || (is_large && c.rounding != Rounding::nearest_even) ? Effort::whole_set
                                                                          : Effort::always};
}

// Numbers of binary32 for which random words decide: digits of every length below and above the
// last place of a format, in its lowest binade, in the next, and in its highest.
std::vector<std::uint32_t> numbers_for_words(const ElementFormat& format) {
    std::vector<std::uint32_t> numbers;
    const int lowest = format.exponent_min();
    for (const int exponent : {format.quantum_exponent_min() - 3, format.quantum_exponent_min(),
                               lowest, lowest + 1, format.exponent_max()})
        for (const std::uint32_t mantissa :
             {0x000000u, 0x000001u, 0x155555u, 0x2AAAAAu, 0x400000u, 0x7FFFFFu}) {
            const int field = std::clamp(exponent + 127, 1, 254);
            numbers.push_back(static_cast<std::uint32_t>(field) << 23 | mantissa);
            if (takes_sign(format)) numbers.push_back(numbers.back() | 0x80000000);
        }
    return numbers;
}

// Few words, or one number of each format: the exact oracle is asked for every word, and shows that
// its answer changes once. For the other numbers that is looked for by bisection.
Asked how_asked(const Conversion& c, std::uint32_t number) {
    const int field = std::clamp(c.format.exponent_min() + 1 + 127, 1, 254);
    const bool is_chosen = number == (static_cast<std::uint32_t>(field) << 23 | 0x2AAAAA);
    const int width = c.random.count;
    return width <= 8 || (width <= 16 && is_chosen) ? Asked::everywhere : Asked::at_borders;
}

// The runs of the codes that one number becomes, over every word of one width.
std::vector<exact::Run> exact_runs_of_words(const Conversion& c, std::uint32_t number) {
    const exact::Value value = exact::decode(c.input, Code{number});
    const std::uint32_t last = ~std::uint32_t{0} >> (32 - c.random.count);
    const auto ask = [&](std::uint32_t word) {
        const RandomBits random{word, c.random.count};
        return both(exact::round(c.format, c.rounding, Overflow::saturate, value, random),
                    exact::round(c.format, c.rounding, Overflow::overflow, value, random));
    };
    return how_asked(c, number) == Asked::everywhere ? exact::runs_asked_everywhere(0, last, ask)
                                                     : exact::runs_of(0, last, ask);
}

Report prove_words(const Conversion& c, std::uint32_t number) {
    return sweep(exact_runs_of_words(c, number), 1, [&](std::uint32_t word) {
        return fast_codes(c, number, {word, c.random.count});
    });
}

Report prove_words_up_to_16_bits(const ElementFormat& format, int threads) {
    const std::vector<std::uint32_t> numbers = numbers_for_words(format);
    std::vector<Report> reports(numbers.size() * 16);
    parallel_for(reports.size(), threads, [&](std::size_t i) {
        const int width = static_cast<int>(i % 16) + 1;
        reports[i] =
            prove_words({formats::f32, format, Rounding::stochastic, {0, width}}, numbers[i / 16]);
    });
    return joined(reports);
}

constexpr Conversion with_words_of_32_bits(const ElementFormat& format) {
    return {formats::f32, format, Rounding::stochastic, {0, 32}};
}

// All words of 32 bits. Format and number are template arguments only so that the compiler can fold
// them into the loop.
template <std::size_t Format, std::uint32_t Number>
Report prove_words_of_32_bits(int threads) {
    const std::vector<exact::Run> runs =
        exact_runs_of_words(with_words_of_32_bits(element_formats[Format]), Number);
    return compare_pieces(runs, sweep_piece, threads, [](const exact::Run& piece) {
        return sweep_run(piece, [](std::uint32_t word) {
            constexpr Conversion c = with_words_of_32_bits(element_formats[Format]);
            return fast_codes(c, Number, {word, 32});
        });
    });
}

// All widths whose words are few, and with the whole set the widest.
template <std::size_t Format>
void add_word_proofs(std::vector<Proof>& proofs) {
    constexpr const ElementFormat& format = element_formats[Format];
    const std::string name(format.name);
    const std::string count = std::to_string(numbers_for_words(format).size());
    proofs.push_back(
        {"random words " + name, "all words of 1 to 16 bits x " + count + " numbers",
         [](int threads) { return prove_words_up_to_16_bits(element_formats[Format], threads); }});
    constexpr std::uint32_t lowest = std::clamp(format.exponent_min() + 127, 1, 254);
    proofs.push_back({"random words of 32 bits " + name, "all 2^32 words x 2 numbers",
                      [](int threads) {
                          return joined(
                              {prove_words_of_32_bits<Format, 0x3F955555>(threads),
                               prove_words_of_32_bits<Format, lowest << 23 | 0x2AAAAA>(threads)});
                      },
                      Effort::whole_set});
}

// Every significand of the binade from 1 to 2, the exact oracle asked for each.
void add_significand_proof(std::vector<Proof>& proofs, const Conversion& c,
                           std::string_view rounding) {
    proofs.push_back({"significands " + std::string(c.format.name) + " " + std::string(rounding),
                      "all 2^23 codes of f32 from 1 to 2, exact asked for each",
                      [c](int threads) {
                          constexpr std::uint32_t one = 0x3F800000;
                          return compare_everywhere(
                              1u << 23, threads,
                              [&c](std::uint32_t i) {
                                  return exact::round(c.format, c.rounding, Overflow::saturate,
                                                      exact::decode(c.input, Code{one | i}))
                                      .bits;
                              },
                              [&c](std::uint32_t i) {
                                  return fast::round(c.format, c.rounding, Overflow::saturate,
                                                     fast::unpack(c.input, Code{one | i}))
                                      .bits;
                              });
                      },
                      Effort::whole_set});
}

template <std::size_t Format>
void add_proofs_of_elements(std::vector<Proof>& proofs) {
    constexpr const ElementFormat& format = element_formats[Format];
    if constexpr (format.code_bits() <= 8 && !is_no_element_of_blocks(format)) {
        add_word_proofs<Format>(proofs);
        for (const auto& [name, rounding] : roundings)
            if (rounding != Rounding::stochastic)
                add_significand_proof(proofs, {formats::f32, format, rounding}, name);
    }
}

template <std::size_t... Format>
void add_proofs_of_all(std::vector<Proof>& proofs, std::index_sequence<Format...>) {
    (add_proofs_of_elements<Format>(proofs), ...);
}

}  // namespace

std::vector<Proof> round_proofs() {
    std::vector<Proof> proofs;
    for (const ElementFormat& format : element_formats) {
        if (format.code_bits() > 8) continue;
        for (const std::string_view input : input_types)
            for (const auto& [name, rounding] : roundings)
                if (are_asked(format, rounding))
                    proofs.push_back(
                        proof_of({*find_element_format(input), format, rounding}, name));
    }
    add_proofs_of_all(proofs, std::make_index_sequence<element_formats.size()>{});
    return proofs;
}

}  // namespace mx::proof
