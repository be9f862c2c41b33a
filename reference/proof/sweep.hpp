// Shared by the proofs: sweep a fast function over the runs that the exact oracle gave, on several
// threads, and turn runs into a digest.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "reference/exact/preimage.hpp"
#include "reference/proof/proof.hpp"
#include "reference/proof/sha256.hpp"

namespace mx::proof {

inline constexpr std::size_t counterexamples_kept = 5;

inline std::string to_hex(std::uint64_t value) {
    std::string digits;
    do digits.insert(digits.begin(), "0123456789abcdef"[value & 15]);
    while ((value >>= 4) != 0);
    return "0x" + digits;
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

// Cuts runs so that no piece is longer than `limit`, for an even share among threads.
inline std::vector<exact::Run> cut_runs(const std::vector<exact::Run>& runs, std::uint32_t limit) {
    std::vector<exact::Run> pieces;
    for (exact::Run rest : runs) {
        while (rest.last - rest.first >= limit) {
            pieces.push_back({rest.first, rest.first + limit - 1, rest.result});
            rest.first += limit;
        }
        pieces.push_back(rest);
    }
    return pieces;
}

// Compares fast(pattern) with the run's result for every pattern of every run.
template <typename Fast>
Report sweep(const std::vector<exact::Run>& runs, int threads, const Fast& fast) {
    Report report;
    report.digest = digest_of(runs);
    const std::vector<exact::Run> pieces = cut_runs(runs, 1u << 22);
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    const auto work = [&] {
        for (std::size_t index; (index = next++) < pieces.size();) {
            const exact::Run piece = pieces[index];
            std::uint64_t wrong = 0;
            const std::uint64_t end = std::uint64_t{piece.last} + 1;
            for (std::uint64_t pattern = piece.first; pattern < end; ++pattern)
                wrong += fast(static_cast<std::uint32_t>(pattern)) != piece.result ? 1 : 0;
            const std::lock_guard lock(mutex);
            report.count += end - piece.first;
            report.mismatches += wrong;
            for (std::uint64_t pattern = piece.first;
                 wrong > 0 && pattern < end && report.counterexamples.size() < counterexamples_kept;
                 ++pattern) {
                const std::uint32_t got = fast(static_cast<std::uint32_t>(pattern));
                if (got != piece.result)
                    report.counterexamples.push_back(to_hex(pattern) + ": fast " + to_hex(got) +
                                                     ", exact " + to_hex(piece.result));
            }
        }
    };
    {
        std::vector<std::jthread> pool;
        for (int thread = 1; thread < threads; ++thread) pool.emplace_back(work);
        work();
    }
    return report;
}

// For domains small enough to ask the exact oracle everywhere.
template <typename Exact, typename Fast>
Report compare_everywhere(std::uint32_t count, const Exact& exact_result, const Fast& fast) {
    Report report;
    std::string text;
    for (std::uint32_t input = 0; input < count; ++input) {
        const std::uint32_t expected = exact_result(input);
        const std::uint32_t actual = fast(input);
        text += to_hex(expected) + "\n";
        ++report.count;
        if (actual == expected) continue;
        if (++report.mismatches <= counterexamples_kept)
            report.counterexamples.push_back(to_hex(input) + ": fast " + to_hex(actual) +
                                             ", exact " + to_hex(expected));
    }
    report.digest = sha256(text);
    return report;
}

}  // namespace mx::proof
