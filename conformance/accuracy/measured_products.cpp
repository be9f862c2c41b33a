// See measured_products.hpp.
#include "conformance/accuracy/measured_products.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "conformance/accuracy/device_codes.hpp"
#include "conformance/case/gemm_case.hpp"
#include "conformance/case/names.hpp"
#include "conformance/run/evidence.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::accuracy {
namespace {

// The exact sum rounded once; a row of its own beside the models.
constexpr std::string_view exact_name = "exact";
constexpr std::string_view any_bound = "any";

struct Point {
    std::string a, b, output, depth;
};

Expected<Case> case_of(const AccuracyRequest& request, const Point& point,
                       const std::string& model) {
    const std::string side = std::to_string(request.side);
    auto c = read_case("gemm a=" + point.a + " b=" + point.b + " output=" + point.output +
                       " shape=" + side + "x" + side + "x" + point.depth + " model=" + model +
                       " data=gemm.uniform seed=" + std::to_string(request.seed));
    if (!c) return c.error();
    if (const Status fits = check_combination(c.value()); !fits) return fits.error();
    return c;
}

std::string bound_name(std::string_view row) {
    return row == any_bound ? "bounded" : "bounded:" + std::string(row);
}

// What a point is measured by: the case that names the bound, and the data.
struct Setup {
    const AccuracyRequest& request;
    const Point& point;
    std::string data, dialect;
    const GemmFactors& factors;
    double quantizing_db;
};

MeasuredProduct blank(const Setup& setup, const Case& c, const std::string& bound) {
    MeasuredProduct m;
    m.data = setup.data;
    m.dialect = setup.dialect;
    m.source = "model";
    m.name = m.bound_of = bound;
    m.c = c;
    m.quantizing_db = setup.quantizing_db;
    return m;
}

// A model in units of its own bound; the exact sum in units of the weakest.
Status add_model(const Setup& setup, const std::string& row, std::vector<MeasuredProduct>& all) {
    const bool is_exact = row == exact_name;
    const std::string bound(is_exact ? any_bound : std::string_view(row));
    const auto bounded = case_of(setup.request, setup.point, bound_name(bound));
    if (!bounded) return bounded.error();
    const auto made = is_exact ? bounded : case_of(setup.request, setup.point, row);
    if (!made) return made.error();
    MeasuredProduct m = blank(setup, bounded.value(), bound);
    m.name = row;
    m.accuracy =
        measure(bounded.value(), setup.factors, expected_outputs(made.value(), setup.factors));
    all.push_back(std::move(m));
    return success();
}

struct Asked {
    const NamedClient& subject;
    std::string algorithm;
    std::string bound;
};

Status add_device(const Setup& setup, const Asked& asked, std::vector<MeasuredProduct>& all) {
    auto c = case_of(setup.request, setup.point, bound_name(asked.bound));
    if (!c) return c.error();
    c.value().gemm.algorithm = asked.algorithm;
    MeasuredProduct m = blank(setup, c.value(), asked.bound);
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
        Outputs outputs;
        for (std::size_t i = 0; i < d.count(); ++i) outputs.push_back(Code{d.at(i)});
        m.accuracy = measure(c.value(), setup.factors, outputs);
    }
    all.push_back(std::move(m));
    return success();
}

std::vector<std::string> bounds_of(const AccuracyRequest& request) {
    std::vector<std::string> bounds = request.models;
    if (bounds.empty()) bounds.emplace_back(any_bound);
    std::ranges::replace(bounds, exact_name, any_bound);  // it has no bound of its own
    return bounds;
}

// Rows that the point's factors do not go with are left out; `refusal` is why, of the first.
Status add_rows(const Setup& setup, const NamedClient* subject, std::vector<MeasuredProduct>& all,
                std::string& refusal) {
    std::vector<std::string> rows = setup.request.models;
    if (rows.empty() && subject == nullptr) rows = names_of(gemm_models);
    if (setup.request.models.empty()) rows.emplace(rows.begin(), exact_name);
    for (const std::string& row : rows)
        if (const Status added = add_model(setup, row, all); !added && refusal.empty())
            refusal = added.error().message;
    if (subject == nullptr) return success();
    for (const std::string& bound : bounds_of(setup.request))
        for (const std::string& algorithm : setup.request.algorithms) {
            const Status added = add_device(setup, {*subject, algorithm, bound}, all);
            if (added) continue;
            if (added.error().kind != ErrorKind::bad_input) return added.error();
            if (refusal.empty()) refusal = added.error().message;
        }
    return success();
}

Status add_point(const AccuracyRequest& request, const Point& point, const std::string& data,
                 const NamedClient* subject, std::vector<MeasuredProduct>& all,
                 std::string& refusal) {
    const auto any = case_of(request, point, "bounded");
    if (!any) return any.error();
    const auto has_e8m0_scales = [](const std::string& word) {
        const BlockFormat* format = find_block_format(word);
        return format != nullptr && format->has_e8m0_scales();
    };
    const bool has_dialects = has_e8m0_scales(point.a) || has_e8m0_scales(point.b);
    const std::string& format = has_e8m0_scales(point.a) ? point.a : point.b;
    for (const std::string& dialect :
         has_dialects ? request.dialects_for(format) : std::vector<std::string>{""}) {
        const auto factors = gemm_factors(any.value(), *find_distribution(data), dialect);
        if (!factors) return factors.error();
        const Setup setup{request, point,           data,
                          dialect, factors.value(), quantizing_sqnr(any.value(), factors.value())};
        if (const Status added = add_rows(setup, subject, all, refusal); !added) return added;
    }
    return success();
}

std::optional<double> where_finite(double value, bool is_known = true) {
    return is_known && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Status check_names(const AccuracyRequest& request) {
    struct Check {
        const char* kind;
        const std::vector<std::string>& given;
        std::vector<std::string> known;
    };
    std::vector<std::string> models = names_of(gemm_models);
    models.emplace_back(exact_name);
    std::vector<std::string> data;
    for (const auto& distribution : distributions()) data.emplace_back(distribution.name);
    for (const Check& check :
         {Check{"format", request.formats, gemm_factor_names()},
          Check{"output", request.outputs, gemm_output_names()},
          Check{"model", request.models, models}, Check{"data", request.data, data},
          Check{"dialect", request.dialects, quantizer_names()}})
        for (const std::string& name : check.given)
            if (const Status known = check_name(check.kind, name, check.known); !known)
                return known;
    constexpr std::uint64_t side_max = 4096;
    if (request.side == 0 || request.side > side_max)
        return bad_input("--side " + std::to_string(request.side) + ": from 1 to " +
                         std::to_string(side_max));
    return success();
}

}  // namespace

bool MeasuredProduct::has_bounds() const {
    return accuracy.outputs > accuracy.not_finite + accuracy.without_bound;
}

double MeasuredProduct::noise_db() const {
    return 10 * std::log10(accuracy.signal / accuracy.noise);
}

Expected<AccuracyRequest> completed(AccuracyRequest request) {
    if (request.formats.empty()) request.formats = {"mxfp8-e4m3", "e4m3:tensor", "bf16"};
    if (request.data.empty()) request.data = {"normal", "log-normal", "outliers"};
    if (const Status known = check_names(request); !known) return known.error();
    return request;
}

Expected<MeasuredProducts> measure_products(const AccuracyRequest& request,
                                            const NamedClient* subject) {
    MeasuredProducts measured;
    for (const std::string& data : request.data)
        for (const std::string& a : request.formats)
            for (const std::string& output : request.outputs)
                for (const std::string& depth : request.depths) {
                    const std::string& b = request.format_b.empty() ? a : request.format_b;
                    const Status added = add_point(request, {a, b, output, depth}, data, subject,
                                                   measured.all, measured.refusal);
                    if (!added) return added.error();
                }
    if (measured.all.empty()) return bad_input(measured.refusal);
    return measured;
}

Judged judged(const std::vector<MeasuredProduct>& all, Whose whose) {
    Judged judged;
    for (const MeasuredProduct& m : all) {
        if (whose == Whose::device && m.is_model()) continue;
        judged.compared += whose == Whose::device ? m.accuracy.judged : m.accuracy.outputs;
        judged.wrong += m.accuracy.beyond;
    }
    return judged;
}

results::GemmAccuracy record_of(const MeasuredProduct& m) {
    const GemmAccuracy& a = m.accuracy;
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
    row.share_max = where_finite(a.share_max, m.has_bounds());
    row.share_mean = where_finite(a.share_mean(), m.has_bounds());
    row.beyond = a.beyond;
    for (const auto& [binade, outputs] : a.shares) {
        results::ShareCount& share = row.shares.emplace_back();
        if (binade != exact_share) share.log2 = binade;
        share.outputs = outputs;
    }
    row.noise_db = where_finite(m.noise_db());
    row.quantizing_db = where_finite(m.quantizing_db);
    return row;
}

}  // namespace mx::accuracy
