// Shared by the proofs: sweep a fast function over the runs that the exact oracle gave, on several
// threads, and turn runs into a digest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "reference/base/hex.hpp"
#include "reference/base/parallel.hpp"
#include "reference/exact/preimage.hpp"
#include "reference/proof/proof.hpp"
#include "reference/proof/sha256.hpp"
#include "reference/spec/element_format.hpp"

namespace mx::proof {

inline constexpr std::size_t counterexamples_kept = 5;

inline std::string to_hex(std::uint64_t value) {
    return "0x" + hex(value);
}

// One line a run: "first last result". Anyone can rebuild it and compare the SHA-256.
inline std::string digest_of(const std::vector<exact::Run>& runs) {
    std::string text;
    for (const exact::Run& run : runs)
        text += to_hex(run.first) + " " + to_hex(run.last) + " " + to_hex(run.result) + "\n";
    return sha256(text);
}

// Appends `more`, joining it to the last run where the result goes on.
inline void append_runs(std::vector<exact::Run>& runs, const std::vector<exact::Run>& more) {
    for (const exact::Run& run : more) {
        if (!runs.empty() && runs.back().result == run.result && runs.back().last + 1 == run.first)
            runs.back().last = run.last;
        else
            runs.push_back(run);
    }
}

// Cuts runs at the multiples of `limit`, for an even share among threads. A limit that divides a
// binade also keeps sign and exponent the same over each piece.
inline std::vector<exact::Run> cut_runs(const std::vector<exact::Run>& runs, std::uint32_t limit) {
    std::vector<exact::Run> pieces;
    for (exact::Run rest : runs) {
        for (std::uint32_t end; (end = rest.first / limit * limit + (limit - 1)) < rest.last;) {
            pieces.push_back({rest.first, end, rest.result});
            rest.first = end + 1;
        }
        pieces.push_back(rest);
    }
    return pieces;
}

// Joins the reports of parts, in their order.
inline Report joined(const std::vector<Report>& parts) {
    Report total;
    std::string digests;
    for (const Report& part : parts) {
        total.count += part.count;
        total.mismatches += part.mismatches;
        for (const std::string& text : part.counterexamples)
            if (total.counterexamples.size() < counterexamples_kept)
                total.counterexamples.push_back(text);
        digests += part.digest;
    }
    total.digest = sha256(digests);
    return total;
}

inline void add_mismatch(Report& report, std::uint64_t input, std::uint64_t fast,
                         std::uint64_t exact) {
    if (++report.mismatches <= counterexamples_kept)
        report.counterexamples.push_back(to_hex(input) + ": fast " + to_hex(fast) + ", exact " +
                                         to_hex(exact));
}

// Compares fast(pattern) with the run's result for every pattern of the run.
template <typename Fast>
Report sweep_run(const exact::Run& run, const Fast& fast) {
    Report report;
    const std::uint64_t end = std::uint64_t{run.last} + 1;
    report.count = end - run.first;
    std::uint64_t wrong = 0;
    for (std::uint64_t pattern = run.first; pattern < end; ++pattern)
        wrong += fast(static_cast<std::uint32_t>(pattern)) != run.result ? 1 : 0;
    for (std::uint64_t pattern = run.first; report.mismatches < wrong; ++pattern) {
        const std::uint64_t got = fast(static_cast<std::uint32_t>(pattern));
        if (got != run.result) add_mismatch(report, pattern, got, run.result);
    }
    return report;
}

// How many neighbouring codes make a piece of work: no more than a binade of the input holds.
inline std::uint32_t piece_length(const ElementFormat& input) {
    return std::min(1u << 22, input.code_mantissa_mask() + 1);
}

// Joins the reports of the pieces of all runs, each from compare(piece) on one of the threads.
template <typename Compare>
Report compare_pieces(const std::vector<exact::Run>& runs, std::uint32_t length, int threads,
                      const Compare& compare) {
    const std::vector<exact::Run> pieces = cut_runs(runs, length);
    std::vector<Report> parts(pieces.size());
    parallel_for(pieces.size(), threads, [&](std::size_t i) { parts[i] = compare(pieces[i]); });
    Report report = joined(parts);
    report.digest = digest_of(runs);
    return report;
}

// The longest piece of a sweep of f32.
inline constexpr std::uint32_t sweep_piece = 1u << 22;

// Compares fast with every run.
template <typename Fast>
Report sweep(const std::vector<exact::Run>& runs, int threads, const Fast& fast) {
    return compare_pieces(runs, sweep_piece, threads,
                          [&](const exact::Run& piece) { return sweep_run(piece, fast); });
}

// How the exact oracle is asked: at both sides of every border, found by bisection, which trusts
// that it is monotone in between; or for every code.
enum class Asked { at_borders, everywhere };

// The runs of a function of the codes of `input`: zeros, finite values, infinities and NaNs of
// either sign are stretches of their own, and only over the finite values must it be monotone.
template <typename Function>
std::vector<exact::Run> runs_of_codes(const ElementFormat& input, std::uint32_t sign,
                                      const Function& function, Asked asked = Asked::at_borders) {
    const std::uint32_t infinity = input.code_infinity();
    std::vector<exact::Run> runs;
    for (const auto& [first, last] : {std::pair<std::uint32_t, std::uint32_t>{0, 0},
                                      {1, infinity - 1},
                                      {infinity, infinity},
                                      {infinity + 1, input.code_magnitude_mask()}})
        append_runs(runs, asked == Asked::everywhere
                              ? exact::runs_asked_everywhere(sign | first, sign | last, function)
                              : exact::runs_of(sign | first, sign | last, function));
    return runs;
}

template <typename Function>
std::vector<exact::Run> runs_of_codes(const ElementFormat& input, const Function& function,
                                      Asked asked = Asked::at_borders) {
    std::vector<exact::Run> runs = runs_of_codes(input, 0, function, asked);
    append_runs(runs, runs_of_codes(input, input.code_sign_mask(), function, asked));
    return runs;
}

inline std::string codes_without_sign_of(const ElementFormat& input) {
    return "all 2^" + std::to_string(input.code_bits() - 1) + " codes of " +
           std::string(input.name) + " without sign";
}

inline std::string all_codes_of(const ElementFormat& input) {
    return "all 2^" + std::to_string(input.code_bits()) + " codes of " + std::string(input.name);
}

// For domains small enough to ask the exact oracle everywhere.
template <typename Exact, typename Fast>
Report compare_everywhere(std::uint32_t count, int threads, const Exact& exact_result,
                          const Fast& fast) {
    constexpr std::uint32_t piece = 4096;
    std::vector<Report> parts((count + piece - 1) / piece);
    parallel_for(parts.size(), threads, [&](std::size_t part) {
        std::string text;
        const std::uint32_t first = static_cast<std::uint32_t>(part) * piece;
        for (std::uint32_t input = first; input < std::min(count, first + piece); ++input) {
            const std::uint64_t expected = exact_result(input);
            const std::uint64_t actual = fast(input);
            text += to_hex(expected) + "\n";
            ++parts[part].count;
            if (actual != expected) add_mismatch(parts[part], input, actual, expected);
        }
        parts[part].digest = sha256(text);
    });
    return joined(parts);
}

}  // namespace mx::proof
