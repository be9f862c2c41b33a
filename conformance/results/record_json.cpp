// One line of a results file to and from a record, by one list of keys that both directions walk.
// Used by the results file reader and writer. Must not know files.
#include "conformance/results/record_json.hpp"

#include <utility>
#include <vector>

#include "conformance/results/field_json.hpp"
#include "reference/base/json_record.hpp"

namespace mx::results {

using json::Json;

static std::string plain(Verdict verdict) {
    return std::string(name_of(verdict));
}
static std::string from_plain(const std::string& name, Verdict& verdict) {
    if (verdict_from_name(name, verdict)) return "";
    return "is \"" + name.substr(0, 40) + "\", which is no verdict";
}

// Runs are many: three numbers each, in one list.
static std::vector<std::uint64_t> plain(const Histogram& histogram) {
    std::vector<std::uint64_t> numbers;
    for (const CellRun& run : histogram)
        numbers.insert(numbers.end(), {run.first, run.cells, run.each});
    return numbers;
}
static std::string from_plain(const std::vector<std::uint64_t>& numbers, Histogram& histogram) {
    if (numbers.size() % 3 != 0) return "must hold three numbers for each run";
    histogram.clear();
    std::uint64_t free = 0;
    for (std::size_t at = 0; at < numbers.size(); at += 3) {
        const CellRun& run =
            histogram.emplace_back(CellRun{numbers[at], numbers[at + 1], numbers[at + 2]});
        const bool fits = run.first >= free && run.cells >= 1 && run.first < histogram_cells_max &&
                          run.cells <= histogram_cells_max - run.first;
        if (!fits) return "must hold runs of cells below 65536, in order";
        free = run.first + run.cells;
    }
    return "";
}

template <typename Archive, json::Either<Waiver> Given>
void describe(Archive& archive, Given& waiver) {
    archive("device", waiver.device);
    archive("case", waiver.case_pattern);
    archive("mismatch", waiver.mismatch_class);
    archive.where_any("axis", waiver.axis);
    archive("reason", waiver.reason);
    archive("link", waiver.link);
    archive("owner", waiver.owner);
    archive("expires", waiver.expires);
    archive("state", waiver.state);
}

template <typename Archive, json::Either<Mismatch> Given>
void describe(Archive& archive, Given& mismatch) {
    archive("mismatch_class", mismatch.mismatch_class);
    archive("stage", mismatch.stage);
    archive("direction", mismatch.direction);
    archive("open_decision", mismatch.open_decision);
    archive("count", mismatch.count);
    archive("of", mismatch.of);
    archive.where_any("axis", mismatch.axis);
    archive("block", mismatch.block);
    archive("lane", mismatch.lane);
    archive("input_bits", mismatch.input_bits);
    archive("input_value", mismatch.input_value);
    archive("amax_value", mismatch.amax_value);
    archive("expected_scale", mismatch.expected_scale);
    archive("actual_scale", mismatch.actual_scale);
    archive("expected_element", mismatch.expected_element);
    archive("actual_element", mismatch.actual_element);
    archive("expected_value", mismatch.expected_value);
    archive("actual_value", mismatch.actual_value);
    archive("exact_value", mismatch.exact_value);
    archive("source", mismatch.source);
    archive("note", mismatch.note);
    archive("repro", mismatch.repro);
    archive("lanes", mismatch.lanes);
}

template <typename Archive, json::Either<CaseResult> Given>
void describe(Archive& archive, Given& result) {
    archive("index", result.index);
    archive("suite", result.suite);
    archive("case", result.case_text);
    archive("operation", result.operation);
    archive("format", result.format);
    archive("dialect", result.dialect);
    archive("input", result.input);
    archive("verdict", result.verdict);
    archive("reason", result.reason);
    archive("elements", result.elements);
    archive("scales", result.scales);
    archive("mismatched_elements", result.mismatched_elements);
    archive("mismatched_scales", result.mismatched_scales);
    archive("mismatches", result.mismatches);
    archive.where_any("waivers", result.waivers);
    archive.where_any("input_cells", result.input_cells);
    archive.where_any("lane_cells", result.lane_cells);
    archive.where_any("expected_scale_codes", result.expected_scale_codes);
    archive.where_any("actual_scale_codes", result.actual_scale_codes);
    archive.where_known("bound_share", result.bound_share);
    archive.where_any("explanations", result.explanations);
    archive.where_known("looked_at", result.looked_at);
}

template <typename Archive, json::Either<RunHeader> Given>
void describe(Archive& archive, Given& header) {
    archive("version", header.version);
    archive("program_version", header.program_version);
    archive("commit", header.commit);
    archive("dirty", header.dirty);
    archive("argv", header.argv);
    archive("started", header.started);
    archive("level", header.level);
    archive("suites", header.suites);
    archive("dialects", header.dialects);
    archive("seed", json::Decimal{header.seed});
    archive("shard", header.shard);
    archive("case_count", header.case_count);
    archive("device", header.device);
    archive("device_facts", header.device_facts);
    archive("environment", header.environment);
    archive("table_hashes", header.table_hashes);
    archive.where_any("waivers", header.waivers);
    archive.where_any("demands", header.demands);
}

template <typename Archive, json::Either<RunFooter> Given>
void describe(Archive& archive, Given& footer) {
    archive("cases", footer.cases);
    archive("verdicts", footer.verdicts);
    archive("elements", footer.elements);
    archive("scales", footer.scales);
    archive("mismatched_elements", footer.mismatched_elements);
    archive("mismatched_scales", footer.mismatched_scales);
    archive("seconds", footer.seconds);
    archive("exit_code", footer.exit_code);
    archive.where_any("close_fault", footer.close_fault);
    archive.where_any("unmet", footer.unmet);
    archive.where_any("cause", footer.cause);
    archive.where_any("cause_kinds", footer.cause_kinds);
}

namespace {

Error bad_line(std::string message) {
    return bad_input(std::move(message));
}

// Fills the record where it will stay: moved into place, g++ 12 believes it uninitialised.
template <typename Struct>
Expected<Record> record_with(const Json& object) {
    Expected<Record> record{Record(std::in_place_type<Struct>)};
    const Status read = json::read_record(object, std::get<Struct>(record.value()), {"kind"});
    if (!read) return read.error();
    return record;
}

Expected<Record> header_of(const Json& object) {
    // The version decides what the other keys mean, so it is asked first and alone.
    int version = 0;
    if (const Status read = json::read_key(object, "version", version); !read) return read.error();
    if (version != format_version)
        return bad_line("results format version " + std::to_string(version) +
                        " is unknown here: this program reads version " +
                        std::to_string(format_version));
    return record_with<RunHeader>(object);
}

Expected<Record> record_of_object(const Json& object) {
    if (!object.is_object()) return bad_line("a line must be a JSON object");
    std::string kind;
    if (const Status read = json::read_key(object, "kind", kind); !read) return read.error();
    if (kind == "header") return header_of(object);
    if (kind == "case") return record_with<CaseResult>(object);
    if (kind == "footer") return record_with<RunFooter>(object);
    return bad_line("\"kind\" is \"" + kind.substr(0, 40) + "\", not header, case or footer");
}

}  // namespace

std::string line_of(const RunHeader& header) {
    return json::line_with("header", header);
}
std::string line_of(const CaseResult& result) {
    return json::line_with("case", result);
}
std::string line_of(const RunFooter& footer) {
    return json::line_with("footer", footer);
}

Expected<Record> record_of(std::string_view line) {
    try {
        return record_of_object(Json::parse(line));
    } catch (const Json::parse_error& problem) {
        return bad_line("not JSON, from byte " + std::to_string(problem.byte));
    } catch (const Json::exception&) {
        return bad_line("holds a number that no reader can keep");
    }
}

}  // namespace mx::results
