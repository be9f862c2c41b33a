// See wall_record.hpp.
#include "conformance/results/wall_record.hpp"

#include "reference/base/json_record.hpp"

namespace mx::results {

using json::Json;

template <typename Archive, json::Either<WallRow> Given>
void describe(Archive& archive, Given& row) {
    archive("operation", row.operation);
    archive("format", row.format);
    archive("dialect", row.dialect);
    archive("verdict", row.verdict);
    archive("cases", row.cases);
    archive("refused", row.refused);
    archive("bytes", row.bytes);
    archive("elements", row.elements);
    archive("elements_differ", row.elements_differ);
    archive("scales", row.scales);
    archive("scales_differ", row.scales_differ);
    archive("inputs", row.inputs);
    archive("axes", row.axes);
    archive("data", row.data);
    archive("deviations", row.deviations);
}

template <typename Archive, json::Either<WallRecord> Given>
void describe(Archive& archive, Given& record) {
    archive("peer", record.peer);
    archive("library", record.library);
    archive("vendor", record.vendor);
    archive("version", record.version);
    archive("source", record.source);
    archive("place", record.place);
    archive("mxcheck", record.mxcheck);
    archive("date", record.date);
    archive("run_again", record.run_again);
    archive("rows", record.rows);
}

template <typename Archive, json::Either<Finding> Given>
void describe(Archive& archive, Given& finding) {
    archive("peer", finding.peer);
    archive("library", finding.library);
    archive("versions", finding.versions);
    archive("what", finding.what);
    archive("witness", finding.witness);
    archive("expected", finding.expected);
    archive("actual", finding.actual);
    archive("effect", finding.effect);
    archive("reported", finding.reported);
    archive("seen", finding.seen);
}

template <typename Archive, json::Either<Findings> Given>
void describe(Archive& archive, Given& all) {
    archive("findings", all.findings);
}

namespace {

template <typename Record>
Expected<Record> parse_plain(std::string_view text, const std::string& name) {
    Record record;
    try {
        const Json json = Json::parse(text);
        if (const Status read = json::read_record(json, record); !read)
            return bad_input(name + ": " + read.error().message);
    } catch (const Json::parse_error& problem) {
        return bad_input(name + ": is not JSON, from byte " + std::to_string(problem.byte));
    } catch (const Json::exception&) {
        return bad_input(name + ": is no object, or holds a number that no reader can keep");
    }
    return record;
}

}  // namespace

Expected<WallRecord> parse_wall_record(std::string_view text, const std::string& name) {
    return parse_plain<WallRecord>(text, name);
}
Expected<std::vector<Finding>> parse_findings(std::string_view text, const std::string& name) {
    auto all = parse_plain<Findings>(text, name);
    if (!all) return all.error();
    return std::move(all.value().findings);
}

}  // namespace mx::results
