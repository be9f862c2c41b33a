// What quantizing loses, on named data or the user's tensors. See accuracy_operations.hpp.
#include <algorithm>
#include <cstdio>

#include "conformance/accuracy/measured_blocks.hpp"
#include "conformance/cli/accuracy_operations.hpp"
#include "conformance/cli/device_option.hpp"
#include "conformance/emulate/text_table.hpp"

namespace mx::cli {
namespace {

using accuracy::MeasuredBlocks, accuracy::oracle;

std::string fixed(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-"
                      : fixed(100.0 * static_cast<double>(part) / static_cast<double>(whole), 3);
}

std::string sqnr_text(const accuracy::Accuracy& measured) {
    if (measured.noise > 0) return fixed(measured.sqnr(), 2);
    return measured.elements == measured.not_finite + measured.lost ? "-" : "exact";
}

// "ocp", "ocp (stochastic)", "ocp, by cuda"
std::string rules_text(const MeasuredBlocks& m) {
    return m.dialect + (m.rounding == "stochastic" ? " (stochastic)" : "") +
           (m.source == oracle ? "" : ", by " + m.source);
}

void print_notes(const MeasuredBlocks& m) {
    const auto number = [](std::uint64_t count) { return std::to_string(count); };
    const std::string row = m.data + ", " + m.format + ", " + m.dialect + ": ";
    std::string text;
    if (!m.reason.empty()) text += row + m.source + " does not: " + m.reason + "\n";
    if (m.accuracy.not_finite + m.accuracy.lost != 0)
        text += row + number(m.accuracy.not_finite) + " values are NaN or Inf and left out, " +
                number(m.accuracy.lost) + " became NaN or Inf\n";
    if (m.source != oracle && m.reason.empty())
        text += row + "of " + m.source + "'s codes " + number(m.beside->changes.values) +
                " elements and " + number(m.beside->changes.scales) +
                " scales differ from the oracle's\n";
    std::fputs(text.c_str(), stdout);
}

void print_table(const std::vector<MeasuredBlocks>& all) {
    using emulate::Align;
    emulate::TextTable table({{"data"},
                              {"format"},
                              {"dialect"},
                              {"SQNR dB", Align::right},
                              {"mean rel %", Align::right},
                              {"max rel %", Align::right},
                              {"saturated %", Align::right},
                              {"flushed %", Align::right},
                              {"subnormal %", Align::right},
                              {"changed %", Align::right},
                              {"max ulp", Align::right}});
    for (const MeasuredBlocks& m : all) {
        if (!m.reason.empty()) continue;
        const accuracy::Accuracy& a = m.accuracy;
        double ulp = 0;
        for (const auto& [binade, errors] : a.binades) ulp = std::max(ulp, errors.largest);
        table.add({m.data, m.format, rules_text(m), sqnr_text(a), fixed(100 * a.relative_mean(), 3),
                   fixed(100 * a.relative_max, 2), percent(a.saturated, a.elements),
                   percent(a.flushed, a.elements), percent(a.subnormal, a.elements),
                   m.beside ? percent(m.beside->changes.values, a.elements) : "", fixed(ulp, 3)});
    }
    std::fputs(table.print().c_str(), stdout);
    for (const MeasuredBlocks& m : all) print_notes(m);
}

// What a device's rows call for; without a device there is nothing to be wrong.
int exit_code_of(const std::vector<MeasuredBlocks>& all, bool has_subject) {
    if (!has_subject) return exit_conformant;
    const accuracy::Judged judged = accuracy::judged(all);
    if (judged.wrong != 0) return exit_mismatch;
    return judged.compared == 0 ? exit_nothing_tested : exit_conformant;
}

}  // namespace

int accuracy_of_quantize(const AccuracyArguments& arguments) {
    const auto quantizers = accuracy::quantizers_of(arguments.request);
    if (!quantizers) return fail_with(quantizers.error());
    const auto subject = open_named(arguments.choice, arguments.timeout_seconds);
    if (!subject) return fail_with(subject.error());
    const auto samples = accuracy::samples_of(arguments.request);
    if (!samples) return fail_with(samples.error());
    const auto all = accuracy::measure_blocks(samples.value(), quantizers.value(),
                                              subject.value() ? &*subject.value() : nullptr);
    if (!all) return fail_with(all.error());
    if (!arguments.json) {
        print_table(all.value());
    } else {
        std::vector<results::QuantizeAccuracy> rows;
        for (const MeasuredBlocks& m : all.value()) rows.push_back(accuracy::record_of(m));
        std::printf("%s\n", results::json_text(rows).c_str());
    }
    return exit_code_of(all.value(), subject.value().has_value());
}

}  // namespace mx::cli
