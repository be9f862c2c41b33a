// Products in units of a model's bound. See accuracy_operations.hpp.
#include "conformance/cli/accuracy_operations.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "conformance/accuracy/device_codes.hpp"
#include "conformance/accuracy/gemm_accuracy.hpp"
#include "conformance/case/gemm_case.hpp"
#include "conformance/case/names.hpp"
#include "conformance/cli/device_option.hpp"
#include "conformance/emulate/text_table.hpp"
#include "conformance/results/attachments.hpp"
#include "conformance/run/evidence.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::cli {
namespace {

// The exact sum rounded once; a row of its own beside the models.
constexpr std::string_view exact_name = "exact";
constexpr std::string_view any_bound = "any";

struct Measured {
    std::string data, dialect, source, name, bound_of;
    Case c;
    accuracy::GemmAccuracy accuracy;
    double quantizing_db = 0;
    std::string reason;  // why there is none of it
};

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

struct Point {
    std::string a, b, output, depth;
};

Expected<Case> case_of(const AccuracyArguments& arguments, const Point& point,
                       const std::string& model) {
    const std::string side = std::to_string(arguments.side);
    auto c = read_case("gemm a=" + point.a + " b=" + point.b + " output=" + point.output +
                       " shape=" + side + "x" + side + "x" + point.depth + " model=" + model +
                       " data=gemm.uniform seed=" + std::to_string(arguments.seed));
    if (!c) return c.error();
    if (const Status fits = check_combination(c.value()); !fits) return fits.error();
    return c;
}

std::string bound_name(std::string_view row) {
    return row == any_bound ? "bounded" : "bounded:" + std::string(row);
}

// What a point is measured by: the case that names the bound, and the data.
struct Setup {
    const AccuracyArguments& arguments;
    const Point& point;
    std::string data, dialect;
    const accuracy::GemmFactors& factors;
    double quantizing_db;
};

Measured blank(const Setup& setup, const Case& c, const std::string& bound) {
    Measured m;
    m.data = setup.data;
    m.dialect = setup.dialect;
    m.source = "model";
    m.name = m.bound_of = bound;
    m.c = c;
    m.quantizing_db = setup.quantizing_db;
    return m;
}

// A model in units of its own bound; the exact sum in units of the weakest.
Status add_model(const Setup& setup, const std::string& row, std::vector<Measured>& all) {
    const bool is_exact = row == exact_name;
    const std::string bound(is_exact ? any_bound : std::string_view(row));
    const auto bounded = case_of(setup.arguments, setup.point, bound_name(bound));
    if (!bounded) return bounded.error();
    const auto made = is_exact ? bounded : case_of(setup.arguments, setup.point, row);
    if (!made) return made.error();
    Measured m = blank(setup, bounded.value(), bound);
    m.name = row;
    m.accuracy = accuracy::measure(bounded.value(), setup.factors,
                                   accuracy::expected_outputs(made.value(), setup.factors));
    all.push_back(std::move(m));
    return success();
}

struct Asked {
    const NamedClient& subject;
    std::string algorithm;
    std::string bound;
};

Status add_device(const Setup& setup, const Asked& asked, std::vector<Measured>& all) {
    auto c = case_of(setup.arguments, setup.point, bound_name(asked.bound));
    if (!c) return c.error();
    c.value().gemm.algorithm = asked.algorithm;
    Measured m = blank(setup, c.value(), asked.bound);
    m.source = asked.subject.name;
    m.name = asked.algorithm;
    std::vector<std::vector<std::byte>> storage;
    const Question question = make_question(c.value(), setup.factors.inputs, storage);
    const auto answer = outputs_of(asked.subject.client.ask(question), question);
    if (!answer && answer.error().kind != ErrorKind::bad_input) return answer.error();
    if (!answer) {
        m.reason = answer.error().message;
    } else {
        CodeTensor d =
            make_tensor({c.value().gemm.output.element, c.value().rows, c.value().columns});
        d.bytes = answer.value()[0].bytes;
        accuracy::Outputs outputs;
        for (std::size_t i = 0; i < d.count(); ++i) outputs.push_back(Code{d.at(i)});
        m.accuracy = accuracy::measure(c.value(), setup.factors, outputs);
    }
    all.push_back(std::move(m));
    return success();
}

std::vector<std::string> bounds_of(const AccuracyArguments& arguments) {
    std::vector<std::string> bounds = arguments.models;
    if (bounds.empty()) bounds.emplace_back(any_bound);
    std::ranges::replace(bounds, exact_name, any_bound);  // it has no bound of its own
    return bounds;
}

// Rows that the point's factors do not go with are left out; `refusal` is why, of the first.
Status add_rows(const Setup& setup, const NamedClient* subject, std::vector<Measured>& all,
                std::string& refusal) {
    std::vector<std::string> rows = setup.arguments.models;
    if (rows.empty() && subject == nullptr) rows = names_of(gemm_models);
    if (setup.arguments.models.empty()) rows.emplace(rows.begin(), exact_name);
    for (const std::string& row : rows)
        if (const Status added = add_model(setup, row, all); !added && refusal.empty())
            refusal = added.error().message;
    if (subject == nullptr) return success();
    for (const std::string& bound : bounds_of(setup.arguments))
        for (const std::string& algorithm : setup.arguments.algorithms) {
            const Status added = add_device(setup, {*subject, algorithm, bound}, all);
            if (added) continue;
            if (added.error().kind != ErrorKind::bad_input) return added.error();
            if (refusal.empty()) refusal = added.error().message;
        }
    return success();
}

Status add_point(const AccuracyArguments& arguments, const Point& point, const std::string& data,
                 const NamedClient* subject, std::vector<Measured>& all, std::string& refusal) {
    const auto any = case_of(arguments, point, "bounded");
    if (!any) return any.error();
    const auto has_e8m0_scales = [](const std::string& word) {
        const BlockFormat* format = find_block_format(word);
        return format != nullptr && format->has_e8m0_scales();
    };
    const bool has_dialects = has_e8m0_scales(point.a) || has_e8m0_scales(point.b);
    const std::string& format = has_e8m0_scales(point.a) ? point.a : point.b;
    for (const std::string& dialect :
         has_dialects ? dialects_of(arguments, format) : std::vector<std::string>{""}) {
        const auto factors =
            accuracy::gemm_factors(any.value(), *accuracy::find_distribution(data), dialect);
        if (!factors) return factors.error();
        const Setup setup{
            arguments, point,           data,
            dialect,   factors.value(), accuracy::quantizing_sqnr(any.value(), factors.value())};
        if (const Status added = add_rows(setup, subject, all, refusal); !added) return added;
    }
    return success();
}

std::string number(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

double noise_db(const accuracy::GemmAccuracy& a) {
    return 10 * std::log10(a.signal / a.noise);
}

std::string decibels(double value) {
    return std::isfinite(value) ? number(value) : std::isinf(value) ? "exact" : "-";
}

bool has_bounds(const accuracy::GemmAccuracy& a) {
    return a.outputs > a.not_finite + a.without_bound;
}

std::string title_of(const Measured& m) {
    const GemmProblem& gemm = m.c.gemm;
    std::string factors = name_of(gemm.a);
    if (gemm.a != gemm.b) factors += " x " + name_of(gemm.b);
    return factors + (m.dialect.empty() ? "" : " " + m.dialect) + " to " + type_name(m.c);
}

void print_table(const std::vector<Measured>& all) {
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
    for (const Measured& m : all) {
        if (!m.reason.empty()) continue;
        const accuracy::GemmAccuracy& a = m.accuracy;
        const bool is_finite = a.outputs > a.not_finite;
        const std::string by = m.source == "model" ? m.name : m.source + " " + m.name;
        table.add({m.data, title_of(m), std::to_string(m.c.gemm.k), by,
                   is_finite ? number(a.ulp_mean()) : "-", is_finite ? number(a.ulp_max) : "-",
                   has_bounds(a) ? number(a.share_mean()) : "-",
                   has_bounds(a) ? number(a.share_max) : "-", m.bound_of, decibels(noise_db(a)),
                   decibels(m.quantizing_db)});
    }
    std::fputs(table.print().c_str(), stdout);
    for (const Measured& m : all) {
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

std::optional<double> where_finite(double value, bool is_known = true) {
    return is_known && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

results::GemmAccuracy row_of(const Measured& m) {
    const accuracy::GemmAccuracy& a = m.accuracy;
    results::GemmAccuracy row;
    row.data = m.data;
    row.a = name_of(m.c.gemm.a);
    row.b = name_of(m.c.gemm.b);
    row.dialect = m.dialect;
    row.output = type_name(m.c);
    row.m = static_cast<std::uint64_t>(m.c.gemm.m);
    row.n = static_cast<std::uint64_t>(m.c.gemm.n);
    row.k = static_cast<std::uint64_t>(m.c.gemm.k);
    row.source = m.source;
    row.name = m.name;
    row.bound_of = m.bound_of;
    row.reason = m.reason;
    if (!m.reason.empty()) return row;
    row.outputs = a.outputs;
    row.not_finite = a.not_finite;
    row.without_bound = a.without_bound;
    row.error_max_ulp = a.ulp_max;
    row.error_mean_ulp = a.ulp_mean();
    row.share_max = where_finite(a.share_max, has_bounds(a));
    row.share_mean = where_finite(a.share_mean(), has_bounds(a));
    row.beyond = a.beyond;
    for (const auto& [binade, outputs] : a.shares) {
        results::ShareCount& share = row.shares.emplace_back();
        if (binade != accuracy::exact_share) share.log2 = binade;
        share.outputs = outputs;
    }
    row.noise_db = where_finite(noise_db(a));
    row.quantizing_db = where_finite(m.quantizing_db);
    return row;
}

Status check_names(const AccuracyArguments& arguments) {
    struct Check {
        const char* kind;
        const std::vector<std::string>& given;
        std::vector<std::string> known;
    };
    std::vector<std::string> models = names_of(gemm_models);
    models.emplace_back(exact_name);
    std::vector<std::string> distributions;
    for (const auto& distribution : accuracy::distributions())
        distributions.emplace_back(distribution.name);
    for (const Check& check :
         {Check{"format", arguments.formats, gemm_factor_names()},
          Check{"output", arguments.outputs, gemm_output_names()},
          Check{"model", arguments.models, models}, Check{"data", arguments.data, distributions},
          Check{"dialect", arguments.dialects, quantizer_names()}})
        for (const std::string& name : check.given)
            if (const Status known = check_name(check.kind, name, check.known); !known)
                return known;
    constexpr std::uint64_t side_max = 4096;
    if (arguments.side == 0 || arguments.side > side_max)
        return bad("--side " + std::to_string(arguments.side) + ": from 1 to " +
                   std::to_string(side_max));
    return success();
}

// In the bounds of all the rows measured; a device alone can be wrong.
int exit_code_of(const std::vector<Measured>& all, const NamedClient* subject) {
    std::uint64_t compared = 0, beyond = 0;
    for (const Measured& m : all) {
        if (subject != nullptr && m.source == "model") continue;
        compared += subject != nullptr ? m.accuracy.judged : m.accuracy.outputs;
        beyond += m.accuracy.beyond;
    }
    if (beyond != 0) return exit_mismatch;
    return compared == 0 ? exit_nothing_tested : exit_conformant;
}

}  // namespace

int accuracy_of_gemm(const AccuracyArguments& given) {
    AccuracyArguments arguments = given;
    if (arguments.formats.empty()) arguments.formats = {"mxfp8-e4m3", "e4m3:tensor", "bf16"};
    if (arguments.data.empty()) arguments.data = {"normal", "log-normal", "outliers"};
    if (const Status known = check_names(arguments); !known) return fail_with(known.error());
    auto subject = open_named(arguments.choice, arguments.timeout_seconds);
    if (!subject) return fail_with(subject.error());
    const std::optional<NamedClient>& device = subject.value();
    std::vector<Measured> all;
    std::string refusal;
    for (const std::string& data : arguments.data)
        for (const std::string& a : arguments.formats)
            for (const std::string& output : arguments.outputs)
                for (const std::string& depth : arguments.depths) {
                    const std::string& b = arguments.format_b.empty() ? a : arguments.format_b;
                    const Status added = add_point(arguments, {a, b, output, depth}, data,
                                                   device ? &*device : nullptr, all, refusal);
                    if (!added) return fail_with(added.error());
                }
    if (all.empty()) return fail_with(bad(refusal));
    if (arguments.json) {
        std::vector<results::GemmAccuracy> rows;
        for (const Measured& m : all) rows.push_back(row_of(m));
        std::printf("%s\n", results::json_text(rows).c_str());
    } else {
        print_table(all);
    }
    const int code = exit_code_of(all, device ? &*device : nullptr);
    if (code == exit_nothing_tested)
        complain("no output was held to a bound" + (refusal.empty() ? "" : ": " + refusal));
    return code;
}

}  // namespace mx::cli
