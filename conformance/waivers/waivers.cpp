// See waivers.hpp. What a waiver means; waivers_toml.cpp reads them.
#include "conformance/waivers/waivers.hpp"

#include <algorithm>

#include "conformance/case/names.hpp"
#include "device/host/device_source.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;

constexpr std::string_view in_force = results::waiver_states[0];
constexpr std::string_view expired = results::waiver_states[1];
constexpr std::string_view unmatched = results::waiver_states[2];
constexpr std::string_view other_device = results::waiver_states[3];

// Dates are written from the year down, so that their order is that of their letters.
std::string_view state_of(const Waiver& waiver, const RunFacts& facts) {
    // The configuration behind the device's path may have a '/' too.
    const std::size_t folder = split_device_text(facts.device).device.find_last_of('/') + 1;
    const std::string file_name = facts.device.substr(folder);
    if (!matches_glob(waiver.record.device, facts.device) &&
        !matches_glob(waiver.record.device, file_name))
        return other_device;
    if (waiver.record.expires < facts.today) return expired;
    const bool any = std::ranges::any_of(
        facts.case_texts, [&](const std::string& text) { return fits(waiver, text); });
    return any ? in_force : unmatched;
}

// "" where there is none.
std::string axis_of(const std::string& case_text) {
    const auto words = split_words(case_text);
    if (!words) return "";
    const auto field = std::ranges::find(words.value().fields, "axis", &KeyValue::key);
    return field == words.value().fields.end() ? "" : field->value;
}

// Can a case of this axis have mismatches along the waiver's?
bool may_differ_along(const std::string& axis, const std::string& axis_of_case) {
    return axis.empty() || axis == axis_of_case || (axis_of_case == "both" && axis != "tile");
}

// Only in a case of axis both does the mismatch itself say whose blocks are wrong.
bool covers_axis(const Waiver& waiver, const CaseResult& result, const Mismatch& mismatch) {
    if (waiver.record.axis.empty()) return true;
    return waiver.record.axis ==
           (mismatch.axis.empty() ? axis_of(result.case_text) : mismatch.axis);
}

// The waiver in force that covers this mismatch; their number if there is none.
std::size_t cover_of(std::span<const Waiver> waivers, const CaseResult& result,
                     const Mismatch& mismatch) {
    std::size_t place = 0;
    for (const Waiver& waiver : waivers) {
        if (waiver.record.state == in_force &&
            waiver.record.mismatch_class == mismatch.mismatch_class &&
            fits(waiver, result.case_text) && covers_axis(waiver, result, mismatch))
            break;
        ++place;
    }
    return place;
}

std::string text_of(const results::Waiver& waiver) {
    return "until " + waiver.expires + ", " + waiver.owner + ": " + waiver.reason + " (" +
           waiver.link + ")";
}

}  // namespace

bool fits(const Waiver& waiver, const std::string& case_text) {
    const auto words = split_words(case_text);
    if (!words || !matches_glob(waiver.pattern.head, words.value().head)) return false;
    if (!may_differ_along(waiver.record.axis, axis_of(case_text))) return false;
    return std::ranges::all_of(waiver.pattern.fields, [&](const KeyValue& wanted) {
        return std::ranges::any_of(words.value().fields, [&](const KeyValue& field) {
            return field.key == wanted.key && matches_glob(wanted.value, field.value);
        });
    });
}

void settle(std::vector<Waiver>& waivers, const RunFacts& facts) {
    for (Waiver& waiver : waivers) waiver.record.state = state_of(waiver, facts);
}

void excuse(std::span<const Waiver> waivers, CaseResult& result) {
    if (result.verdict != Verdict::fail && result.verdict != Verdict::flaky) return;
    std::vector<std::uint64_t> used;
    std::string reason;
    for (const Mismatch& mismatch : result.mismatches) {
        if (!mismatch.open_decision.empty() && mismatch.mismatch_class != "flaky") continue;
        const std::size_t place = cover_of(waivers, result, mismatch);
        if (place == waivers.size()) return;
        if (std::ranges::find(used, place + 1) != used.end()) continue;
        used.push_back(place + 1);
        reason += (reason.empty() ? "" : "; ") + text_of(waivers[place].record);
    }
    if (used.empty()) return;
    std::ranges::sort(used);
    result.verdict = Verdict::waived;
    result.reason = reason;
    result.waivers = std::move(used);
}

std::vector<std::size_t> unneeded(const results::Run& run) {
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < run.header.waivers.size(); ++place) {
        const bool needed = std::ranges::any_of(run.cases, [place](const CaseResult& result) {
            return std::ranges::find(result.waivers, place + 1) != result.waivers.end();
        });
        if (run.header.waivers[place].state == in_force && !needed) places.push_back(place);
    }
    return places;
}

}  // namespace mx
