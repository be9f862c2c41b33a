// Products in units of a model's bound. See accuracy_operations.hpp.
#include <cmath>
#include <cstdio>

#include "conformance/accuracy/measured_products.hpp"
#include "conformance/case/gemm_case.hpp"
#include "conformance/cli/accuracy_operations.hpp"
#include "conformance/cli/device_option.hpp"
#include "conformance/emulate/text_table.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

using accuracy::MeasuredProduct, accuracy::Whose;

std::string decibels(double value) {
    return std::isfinite(value) ? four_digits(value) : std::isinf(value) ? "exact" : "-";
}

std::string title_of(const MeasuredProduct& m) {
    const GemmProblem& gemm = m.c.gemm;
    std::string factors = name_of(gemm.a);
    if (gemm.a != gemm.b) factors += " x " + name_of(gemm.b);
    return factors + (m.dialect.empty() ? "" : " " + m.dialect) + " to " + type_name(m.c);
}

void print_table(const std::vector<MeasuredProduct>& all) {
    using emulate::Align;
    emulate::TextTable table({{"data"},
                              {"factors"},
                              {"K", Align::right},
                              {"summed by"},
                              {"mean ulp", Align::right},
                              {"max ulp", Align::right},
                              {"mean / bound", Align::right},
                              {"max / bound", Align::right},
                              {"bound of"},
                              {"SNR dB", Align::right},
                              {"of quantizing dB", Align::right}});
    for (const MeasuredProduct& m : all) {
        if (!m.reason.empty()) continue;
        const accuracy::GemmAccuracy& a = m.accuracy;
        const bool is_finite = a.outputs > a.not_finite;
        const std::string by = m.is_model() ? m.name : m.source + " " + m.name;
        table.add({m.data, title_of(m), std::to_string(m.c.gemm.k), by,
                   is_finite ? four_digits(a.ulp_mean()) : "-",
                   is_finite ? four_digits(a.ulp_max) : "-",
                   m.has_bounds() ? four_digits(a.share_mean()) : "-",
                   m.has_bounds() ? four_digits(a.share_max) : "-", m.bound_of,
                   decibels(m.noise_db()), decibels(m.quantizing_db)});
    }
    std::fputs(table.print().c_str(), stdout);
    for (const MeasuredProduct& m : all) {
        const std::string row = m.data + ", " + title_of(m) + ", K " + std::to_string(m.c.gemm.k) +
                                ", " + m.source + " " + m.name;
        if (!m.reason.empty())
            std::printf("%s: not supported: %s\n", row.c_str(), m.reason.c_str());
        if (m.accuracy.beyond != 0)
            std::printf("%s: %llu of %llu outputs lie beyond the bound of %s\n", row.c_str(),
                        static_cast<unsigned long long>(m.accuracy.beyond),
                        static_cast<unsigned long long>(m.accuracy.outputs), m.bound_of.c_str());
    }
}

}  // namespace

int accuracy_of_gemm(const AccuracyArguments& arguments) {
    const auto request = accuracy::completed(arguments.request);
    if (!request) return fail_with(request.error());
    const auto subject = open_named(arguments.choice, arguments.timeout_seconds);
    if (!subject) return fail_with(subject.error());
    const auto measured =
        accuracy::measure_products(request.value(), subject.value() ? &*subject.value() : nullptr);
    if (!measured) return fail_with(measured.error());
    const auto& [all, refusal] = measured.value();
    if (arguments.json) {
        std::vector<results::GemmAccuracy> rows;
        for (const MeasuredProduct& m : all) rows.push_back(accuracy::record_of(m));
        std::printf("%s\n", results::json_text(rows).c_str());
    } else {
        print_table(all);
    }
    const accuracy::Judged judged =
        accuracy::judged(all, subject.value() ? Whose::device : Whose::models);
    if (judged.wrong != 0) return exit_mismatch;
    if (judged.compared != 0) return exit_conformant;
    complain("no output was held to a bound" + (refusal.empty() ? "" : ": " + refusal));
    return exit_nothing_tested;
}

}  // namespace mx::cli
