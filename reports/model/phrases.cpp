// See phrases.hpp.
#include "reports/model/phrases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace mx::reports {

using results::Verdict;

namespace {

struct Phrase {
    Verdict verdict;
    std::string_view short_word, meaning;
};

constexpr std::array<Phrase, results::verdict_count> phrases{{
    {Verdict::pass_exact, "pass", "every bit equals the oracle's"},
    {Verdict::pass_bounded, "bounded", "within the bound that the arithmetic model derives"},
    {Verdict::deviation, "deviates", "differs only where the standard leaves the answer open"},
    {Verdict::not_supported, "n/s", "the device says that it does not do this"},
    {Verdict::waived, "waived", "differs, and a waiver in force covers it"},
    {Verdict::insufficient_data, "no data", "the data of this case could not have failed"},
    {Verdict::flaky, "FLAKY", "two runs of the same case gave different bits"},
    {Verdict::fail, "FAIL", "differs where the bits are binding"},
    {Verdict::oracle_disagreement, "ORACLE", "the two oracles differ: our own fault"},
    {Verdict::device_error, "ERROR", "the device reported an error"},
    {Verdict::crash, "CRASH", "the device crashed"},
    {Verdict::timeout, "TIMEOUT", "the device did not answer in time"},
    {Verdict::untested, "untested", "never run"},
}};

const Phrase& phrase_of(Verdict verdict) {
    for (const Phrase& phrase : phrases)
        if (phrase.verdict == verdict) return phrase;
    return phrases.back();
}

std::string printed(const char* format, double number) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, number);
    return text.data();
}

}  // namespace

std::string words_of(Verdict verdict) {
    std::string words(results::name_of(verdict));
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

std::string_view short_word_of(Verdict verdict) {
    return phrase_of(verdict).short_word;
}

std::string_view meaning_of(Verdict verdict) {
    return phrase_of(verdict).meaning;
}

std::string place_of(const results::CaseResult& result, const results::Mismatch& mismatch) {
    const bool is_product = result.operation == "gemm";
    return (is_product ? "row " : "block ") + grouped(mismatch.block) +
           (is_product ? ", column " : ", lane ") + grouped(mismatch.lane) +
           (mismatch.axis.empty() ? "" : " of axis " + mismatch.axis);
}

std::string duration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "unknown";
    if (seconds < 10) return printed("%.2f s", seconds);
    if (seconds < 60) return printed("%.1f s", seconds);
    const double minutes = std::floor(seconds / 60);
    const double rest = std::floor(seconds - 60 * minutes);
    if (minutes < 60) return printed("%.0f min ", minutes) + printed("%.0f s", rest);
    const double hours = std::floor(minutes / 60);
    return printed("%.0f h ", hours) + printed("%.0f min", minutes - 60 * hours);
}

}  // namespace mx::reports
