// See attachments.hpp. What a row must have is asked with at(); what only newer programs write has
// a default.
#include "conformance/results/attachments.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "conformance/results/results_file.hpp"

namespace mx::results {
namespace {

using Json = nlohmann::json;

// A number with a fraction or an exponent is no count: nlohmann would cut it, and has undefined
// behaviour for one beyond 64 bits.
template <typename Value>
void read(const Json& json, Value& value) {
    if constexpr (std::is_same_v<Value, std::uint64_t>)
        value = json.get_ref<const Json::number_unsigned_t&>();
    else if constexpr (std::is_same_v<Value, std::int64_t>)
        value = json.get_ref<const Json::number_integer_t&>();
    else
        json.get_to(value);
}

template <typename Value>
void must(const Json& json, const char* key, Value& value) {
    read(json.at(key), value);
}
template <typename Value>
void may(const Json& json, const char* key, Value& value) {
    const auto found = json.find(key);
    if (found != json.end() && !found->is_null()) read(*found, value);
}
template <typename Number>
void may(const Json& json, const char* key, std::optional<Number>& value) {
    const auto found = json.find(key);
    if (found != json.end() && !found->is_null()) read(*found, value.emplace());
}

QuantizeAccuracy quantize_of(const Json& json) {
    QuantizeAccuracy row;
    must(json, "data", row.data);
    must(json, "format", row.format);
    must(json, "dialect", row.dialect);
    row.source = "oracle";
    may(json, "rounding", row.rounding);
    may(json, "source", row.source);
    may(json, "reason", row.reason);
    if (!row.reason.empty()) return row;
    must(json, "elements", row.elements);
    must(json, "saturated", row.saturated);
    must(json, "flushed", row.flushed);
    must(json, "subnormal", row.subnormal);
    may(json, "values_changed", row.values_changed);
    may(json, "sqnr_db", row.sqnr_db);
    must(json, "relative_mean", row.relative_mean);
    must(json, "relative_max", row.relative_max);
    for (const Json& each : json.at("binades")) {
        BinadeError& binade = row.binades.emplace_back();
        must(each, "binade", binade.binade);
        must(each, "elements", binade.elements);
        must(each, "mean_ulp", binade.mean_ulp);
        must(each, "max_ulp", binade.max_ulp);
    }
    for (const Json& each : json.at("scales")) {
        std::uint64_t byte = 0;
        must(each, "byte", byte);
        must(each, "blocks", row.scales[byte]);
    }
    return row;
}

GemmAccuracy gemm_of(const Json& json) {
    GemmAccuracy row;
    must(json, "data", row.data);
    must(json, "a", row.a);
    must(json, "b", row.b);
    must(json, "source", row.source);
    may(json, "output", row.output);
    may(json, "name", row.name);
    may(json, "bound_of", row.bound_of);
    may(json, "reason", row.reason);
    must(json, "m", row.m);
    must(json, "n", row.n);
    must(json, "k", row.k);
    if (!row.reason.empty()) return row;
    must(json, "outputs", row.outputs);
    may(json, "beyond", row.beyond);
    may(json, "error_max_ulp", row.error_max_ulp);
    may(json, "error_mean_ulp", row.error_mean_ulp);
    may(json, "share_max", row.share_max);
    may(json, "share_mean", row.share_mean);
    may(json, "noise_db", row.noise_db);
    may(json, "quantizing_db", row.quantizing_db);
    if (json.contains("shares"))
        for (const Json& each : json.at("shares")) {
            ShareCount& share = row.shares.emplace_back();
            may(each, "log2", share.log2);
            must(each, "outputs", share.outputs);
        }
    return row;
}

TrainingCurve training_of(const Json& json) {
    TrainingCurve run;
    must(json, "task", run.task);
    must(json, "forward", run.forward);
    must(json, "gradient", run.gradient);
    must(json, "dialect", run.dialect);
    run.source = "oracle";
    may(json, "source", run.source);
    may(json, "products", run.products);
    may(json, "verdict", run.verdict);
    may(json, "reason", run.reason);
    if (!run.reason.empty()) return run;
    must(json, "first_gradient_error", run.first_gradient_error);
    must(json, "weight_error", run.weight_error);
    // A training that ran away has losses that JSON writes as null.
    for (const Json& loss : json.at("losses"))
        run.losses.push_back(loss.is_null() ? std::nan("") : loss.get<double>());
    return run;
}

void add_bugs(const Json& list, const std::string& group, KillMatrix& kills) {
    for (const Json& json : list) {
        PlantedBug& bug = kills.bugs.emplace_back();
        bug.group = group;
        must(json, "name", bug.name);
        must(json, "killed", bug.killed);
        may(json, "description", bug.description);
        may(json, "not_run", bug.not_run);
        may(json, "rules", bug.rules);
        if (!json.contains("kill")) continue;
        const Json& kill = json.at("kill");
        must(kill, "level", bug.level);
        must(kill, "suite", bug.suite);
        must(kill, "verdict", bug.verdict);
        must(kill, "class", bug.mismatch_class);
        must(kill, "case", bug.case_text);
    }
}

KillMatrix kills_of(const Json& json) {
    KillMatrix kills;
    must(json, "level", kills.level);
    must(json, "summary", kills.summary);
    must(json, "passed", kills.passed);
    may(json, "problems", kills.problems);
    add_bugs(json.at("bugs"), "block", kills);
    for (const char* group : {"real_scales", "gemm", "gpu"})
        if (json.contains(group)) add_bugs(json.at(group).at("bugs"), group, kills);
    return kills;
}

// Without the library's own name and number of the problem.
std::string said_by(const Json::exception& problem) {
    const std::string_view text = problem.what();
    const std::size_t end = text.find("] ");
    return std::string(end == text.npos ? text : text.substr(end + 2));
}

// A row says by its keys what it is.
Status add_row(const Json& row, Attachments& attachments) {
    if (!row.is_object()) return Error{ErrorKind::bad_input, "is no row of accuracy or train"};
    if (row.contains("task"))
        attachments.training.push_back(training_of(row));
    else if (row.contains("bound_of") || row.value("op", "") == "gemm")
        attachments.gemm.push_back(gemm_of(row));
    else if (row.contains("format"))
        attachments.quantize.push_back(quantize_of(row));
    else
        return Error{ErrorKind::bad_input, "is no row of accuracy or train"};
    return success();
}

Status add_json(const Json& json, const std::string& name, Attachments& attachments) {
    if (json.is_object() && json.contains("bugs")) {
        attachments.kills.push_back(kills_of(json));
        return success();
    }
    if (!json.is_array())
        return Error{ErrorKind::bad_input,
                     name +
                         ": is neither of mxcheck bench, nor what accuracy, train or selftest "
                         "write with --json"};
    std::size_t number = 0;
    for (const Json& row : json) {
        ++number;
        const std::string place = name + ", row " + std::to_string(number) + ": ";
        try {
            if (const Status added = add_row(row, attachments); !added)
                return Error{added.error().kind, place + added.error().message};
        } catch (const Json::exception& problem) {
            return Error{ErrorKind::bad_input, place + said_by(problem)};
        }
    }
    return success();
}

}  // namespace

Status attach(std::string_view text, const std::string& name, Attachments& attachments) {
    if (text.starts_with("{\"kind\":\"bench\"")) {
        auto bench = parse_bench(text, name);
        if (!bench) return bench.error();
        attachments.benches.push_back(std::move(bench).value());
        return success();
    }
    try {
        return add_json(Json::parse(text), name, attachments);
    } catch (const Json::parse_error& problem) {
        return Error{ErrorKind::bad_input,
                     name + ": is not JSON, from byte " + std::to_string(problem.byte) +
                         "; accuracy, train, selftest and bench write what joins a page"};
    } catch (const Json::exception& problem) {
        return Error{ErrorKind::bad_input, name + ": " + said_by(problem)};
    }
}

Status attach_file(const std::string& path, Attachments& attachments) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return system_error(path, "cannot open", errno);
    const auto text = read_all(file, path);
    if (!text) return text.error();
    return attach(text.value(), path, attachments);
}

}  // namespace mx::results
