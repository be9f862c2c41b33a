// See waiving.hpp.
#include "conformance/session/waiving.hpp"

#include "conformance/session/provenance.hpp"
#include "reference/base/files.hpp"

namespace mx::session {
namespace {

constexpr std::size_t length_of_a_day = 10;  // "2026-11-21"

// What is wrong with it in this run, "" if nothing is.
std::string fault_of(const results::Waiver& waiver) {
    if (waiver.state == "expired")
        return "the waiver expired after " + waiver.expires + "; owner " + waiver.owner;
    if (waiver.state == "unmatched")
        return "the waiver fits no case of this run: " + waiver.case_pattern;
    return "";
}

}  // namespace

Expected<std::vector<Waiver>> waivers_of(const WaiverOptions& options, const std::string& device,
                                         std::vector<std::string> case_texts, const Say& say) {
    if (options.file.empty() && options.strict)
        return bad_input("--strict is about waivers; --waivers is missing");
    if (options.file.empty()) return std::vector<Waiver>();
    const auto text = text_of_file(options.file);
    if (!text) return bad_input("waivers: " + text.error().message);
    auto waivers = parse_waivers(text.value(), options.file);
    if (!waivers) return waivers.error();
    settle(waivers.value(), {device, utc_now().substr(0, length_of_a_day), std::move(case_texts)});
    for (const Waiver& waiver : waivers.value()) {
        const std::string place = options.file + ":" + std::to_string(waiver.line) + ": ";
        if (waiver.record.state == "other device")
            say(place + "a waiver for another device, '" + waiver.record.device + "'");
        const std::string fault = fault_of(waiver.record);
        if (fault.empty()) continue;
        if (options.strict) return bad_input(place + fault);
        say("warning: " + place + fault);
    }
    return waivers;
}

Outcome judge_unneeded(const results::Run& run, bool strict, Outcome outcome, const Say& say) {
    const std::vector<std::size_t> places = unneeded(run);
    for (const std::size_t place : places) {
        const results::Waiver& waiver = run.header.waivers[place];
        say(std::string(strict ? "" : "warning: ") + "waiver " + std::to_string(place + 1) +
            " was not needed: " + waiver.case_pattern + ", " + results::mismatches_of(waiver) +
            "; owner " + waiver.owner);
    }
    const bool is_fault = !places.empty() && strict && outcome == Outcome::conformant;
    return is_fault ? Outcome::bad_input : outcome;
}

}  // namespace mx::session
