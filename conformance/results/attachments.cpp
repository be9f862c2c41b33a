// See attachments.hpp. The keys of each row stand in one list for those who write and read it; what
// older programs did not write is read with since() and where_...().
#include "conformance/results/attachments.hpp"

#include <fcntl.h>

#include <cerrno>

#include "conformance/results/results_file.hpp"
#include "reference/base/json_record.hpp"

namespace mx::results {

using json::Json;

template <typename Archive, json::Either<BinadeError> Given>
void describe(Archive& archive, Given& error) {
    archive("binade", error.binade);
    archive("elements", error.elements);
    archive.or_nan("mean_ulp", error.mean_ulp);
    archive.or_nan("max_ulp", error.max_ulp);
}

template <typename Archive, json::Either<ScaleCount> Given>
void describe(Archive& archive, Given& count) {
    archive("byte", count.byte);
    archive("blocks", count.blocks);
}

template <typename Archive, json::Either<ComparedRow> Given>
void describe(Archive& archive, Given& row) {
    archive("dialect", row.dialect);
    archive("rounding", row.rounding);
    archive("source", row.source);
}

template <typename Archive, json::Either<QuantizeAccuracy> Given>
void describe(Archive& archive, Given& row) {
    archive.since("op", row.op);
    archive("data", row.data);
    archive("format", row.format);
    archive("dialect", row.dialect);
    archive.since("rounding", row.rounding);
    archive.since("source", row.source);
    archive.where_any("reason", row.reason);
    if (!row.reason.empty()) return;
    archive("elements", row.elements);
    archive.since("blocks", row.blocks);
    archive.since("not_finite", row.not_finite);
    archive.since("lost", row.lost);
    archive.since("zeros", row.zeros);
    archive("saturated", row.saturated);
    archive("flushed", row.flushed);
    archive("subnormal", row.subnormal);
    archive.or_null("sqnr_db", row.sqnr_db);
    archive.or_nan("relative_mean", row.relative_mean);
    archive.or_nan("relative_max", row.relative_max);
    archive.or_null("beside", row.beside);
    archive.since("values_changed", row.values_changed);
    archive.since("scales_changed", row.scales_changed);
    archive("binades", row.binades);
    archive("scales", row.scales);
}

template <typename Archive, json::Either<ShareCount> Given>
void describe(Archive& archive, Given& share) {
    archive.or_null("log2", share.log2);
    archive("outputs", share.outputs);
}

template <typename Archive, json::Either<GemmAccuracy> Given>
void describe(Archive& archive, Given& row) {
    archive.since("op", row.op);
    archive("data", row.data);
    archive("a", row.a);
    archive("b", row.b);
    archive.since("dialect", row.dialect);
    archive.since("output", row.output);
    archive("m", row.m);
    archive("n", row.n);
    archive("k", row.k);
    archive("source", row.source);
    archive.since("name", row.name);
    archive.since("bound_of", row.bound_of);
    archive.where_any("reason", row.reason);
    if (!row.reason.empty()) return;
    archive("outputs", row.outputs);
    archive.since("not_finite", row.not_finite);
    archive.since("without_bound", row.without_bound);
    archive.since_nan("error_max_ulp", row.error_max_ulp);
    archive.since_nan("error_mean_ulp", row.error_mean_ulp);
    archive.or_null("share_max", row.share_max);
    archive.or_null("share_mean", row.share_mean);
    archive.since("beyond", row.beyond);
    archive.since("shares", row.shares);
    archive.or_null("noise_db", row.noise_db);
    archive.or_null("quantizing_db", row.quantizing_db);
}

template <typename Archive, json::Either<TrainingParting> Given>
void describe(Archive& archive, Given& parting) {
    archive("step", parting.step);
    archive("what", parting.what);
}

template <typename Archive, json::Either<TrainingCurve> Given>
void describe(Archive& archive, Given& run) {
    archive("task", run.task);
    archive("forward", run.forward);
    archive("gradient", run.gradient);
    archive("dialect", run.dialect);
    archive.since("scale_rule", run.scale_rule);
    archive.since("source", run.source);
    archive.since("products", run.products);
    archive.since("verdict", run.verdict);
    archive.where_any("reason", run.reason);
    if (!run.reason.empty()) return;
    archive.or_null("differs_at", run.differs_at);
    archive.since_nan("output_error", run.output_error);
    archive.or_nan("first_gradient_error", run.first_gradient_error);
    archive.since_nan("last_gradient_error", run.last_gradient_error);
    archive.or_nan("weight_error", run.weight_error);
    archive.since_nan("loss_error_max", run.loss_error_max);
    archive.since_nan("loss_error_last", run.loss_error_last);
    archive.since("beyond_limits", run.beyond_limits);
    archive.or_nan("losses", run.losses);
}

template <typename Archive, json::Either<PlantedKill> Given>
void describe(Archive& archive, Given& kill) {
    archive("level", kill.level);
    archive("suite", kill.suite);
    archive("verdict", kill.verdict);
    archive("class", kill.mismatch_class);
    archive("case", kill.case_text);
    archive.since("reason", kill.reason);
}

template <typename Archive, json::Either<PlantedBug> Given>
void describe(Archive& archive, Given& bug) {
    archive("name", bug.name);
    archive.since("description", bug.description);
    archive.since("shows_on", bug.shows_on);
    archive.since("cases", bug.cases);
    archive("killed", bug.killed);
    archive.where_known("kill", bug.kill);
    archive.where_any("fault", bug.fault);
    archive.where_any("does", bug.does);
    archive.where_any("cause", bug.cause);
    archive.where_any("cause_sentence", bug.cause_sentence);
    archive.where_any("cause_kinds", bug.cause_kinds);
    archive.where_any("rules", bug.rules);
    archive.where_true("not_run", bug.not_run);
}

template <typename Archive, json::Either<CleanRun> Given>
void describe(Archive& archive, Given& run) {
    archive("clean", run.clean);
    archive("cases", run.cases);
    archive("elements", run.elements);
    archive("scales", run.scales);
    archive("complaint", run.complaint);
}

template <typename Archive, json::Either<CanaryRun> Given>
void describe(Archive& archive, Given& run) {
    archive("failed", run.failed);
    archive("complaint", run.complaint);
}

template <typename Archive, json::Either<RuleKills> Given>
void describe(Archive& archive, Given& rule) {
    archive("name", rule.name);
    archive("source", rule.source);
    archive("inputs", rule.inputs);
    archive("asked", rule.asked);
    archive("killed", rule.killed);
    archive("killed_only_on_edges", rule.killed_only_on_edges);
}

template <typename Archive, json::Either<KillGroup> Given>
void describe(Archive& archive, Given& group) {
    archive.since("planted", group.planted);
    archive.since("killed", group.killed);
    archive.where_known("not_run", group.not_run);
    archive.where_known("reason", group.reason);
    archive.where_known("base", group.base);
    archive.where_known("canary", group.canary);
    archive.where_any("rules", group.rules);
    archive("bugs", group.bugs);
}

template <typename Archive, json::Either<KillMatrix> Given>
void describe(Archive& archive, Given& kills) {
    archive.since("version", kills.version);
    archive("level", kills.level);
    archive("passed", kills.passed);
    archive("summary", kills.summary);
    archive.since("killed", kills.blocks.killed);
    archive.since("planted", kills.blocks.planted);
    archive.since("problems", kills.problems);
    archive.where_known("base", kills.blocks.base);
    archive.where_known("oracle_as_device", kills.oracle_as_device);
    archive.where_known("canary", kills.blocks.canary);
    archive.where_any("rules", kills.blocks.rules);
    archive("bugs", kills.blocks.bugs);
    archive.where_known("real_scales", kills.real_scales);
    archive.where_known("gemm", kills.gemm);
    archive.where_known("gpu", kills.gpu);
}

namespace {

// A row says by its keys what it is.
Status add_row(const Json& row, Attachments& attachments) {
    const auto has = [&](const char* key) { return row.is_object() && row.contains(key); };
    if (has("task")) return json::read_record(row, attachments.training.emplace_back());
    if (has("bound_of") || (has("op") && row["op"] == "gemm"))
        return json::read_record(row, attachments.gemm.emplace_back());
    if (has("format")) return json::read_record(row, attachments.quantize.emplace_back());
    return bad_input("is no row of accuracy or train");
}

Status add_json(const Json& json, const std::string& name, Attachments& attachments) {
    if (json.is_object() && json.contains("bugs")) {
        const Status read = json::read_record(json, attachments.kills.emplace_back());
        return read ? read : bad_input(name + ": " + read.error().message);
    }
    if (!json.is_array())
        return bad_input(
            name +
            ": is neither of mxcheck bench, nor what accuracy, train or selftest write "
            "with --json");
    std::size_t number = 0;
    for (const Json& row : json) {
        ++number;
        if (const Status added = add_row(row, attachments); !added)
            return bad_input(name + ", row " + std::to_string(number) + ": " +
                             added.error().message);
    }
    return success();
}

}  // namespace

std::string json_text(const std::vector<QuantizeAccuracy>& rows) {
    return json::lines_of(rows);
}
std::string json_text(const std::vector<GemmAccuracy>& rows) {
    return json::lines_of(rows);
}
std::string json_text(const std::vector<TrainingCurve>& runs) {
    return json::lines_of(runs);
}
std::string json_text(const KillMatrix& kills) {
    return json::lines_of(kills);
}

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
        return bad_input(name + ": is not JSON, from byte " + std::to_string(problem.byte) +
                         "; accuracy, train, selftest and bench write what joins a page");
    } catch (const Json::exception&) {
        return bad_input(name + ": holds a number that no reader can keep");
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
