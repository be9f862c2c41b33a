// See bench_record.hpp. Every key that is written must be there when it is read.
#include "conformance/results/bench_record.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "conformance/results/field_json.hpp"
#include "conformance/results/results_file.hpp"

namespace mx::results {

using json::Json;

template <typename Archive, json::Either<BenchHeader> Given>
void describe(Archive& archive, Given& header) {
    archive("version", header.version);
    archive("program_version", header.program_version);
    archive("commit", header.commit);
    archive("dirty", header.dirty);
    archive("argv", header.argv);
    archive("started", header.started);
    archive("device", header.device);
    archive("data", header.data);
    archive("place", header.place);
    archive("clock", header.clock);
    archive("device_facts", header.device_facts);
    archive("environment", header.environment);
}

template <typename Archive, json::Either<BenchRow> Given>
void describe(Archive& archive, Given& row) {
    archive("what", row.what);
    archive("shape", row.shape);
    archive("types", row.types);
    archive("cache", row.cache);
    archive("reason", row.reason);
    archive("bytes", row.bytes);
    archive("operations", row.operations);
    archive("samples", row.samples);
    archive("batch", row.batch);
    archive("seconds", row.seconds);
    archive("low", row.low);
    archive("high", row.high);
    archive("quarters", row.quarters);
    archive("roof_share", row.roof_share);
    archive("state_before", row.state_before);
    archive("state_after", row.state_after);
}

namespace {

bool is_sound(const BenchRow& row) {
    for (const double number : {row.seconds, row.low, row.high, row.roof_share})
        if (!std::isfinite(number) || number < 0) return false;
    const auto [least, most] = std::minmax_element(row.quarters.begin(), row.quarters.end());
    const bool is_measured = row.samples > 0 && row.batch > 0 && row.seconds > 0 && *least > 0 &&
                             std::isfinite(*most) && row.low <= row.high;
    return is_measured == row.reason.empty();
}

Status take_header(Bench& bench, const Json& json) {
    // The version decides what the other keys mean, so it is asked first and alone.
    if (const Status read = json::read_key(json, "version", bench.header.version); !read)
        return read;
    if (bench.header.version != bench_format_version)
        return bad_input("format version " + std::to_string(bench.header.version) +
                         " is unknown here");
    return json::read_record(json, bench.header, {"kind"});
}

Status take(Bench& bench, const Json& json, bool is_first) {
    if (!json.is_object()) return bad_input("a line must be a JSON object");
    std::string kind;
    if (const Status read = json::read_key(json, "kind", kind); !read) return read;
    if (is_first != (kind == "bench"))
        return bad_input("a benchmark has one header, and that first");
    if (is_first) return take_header(bench, json);
    if (bench.complete) return bad_input("there is a line after the end of the benchmark");
    bench.complete = kind == "end";
    if (bench.complete) return success();
    if (kind != "row") return bad_input("\"kind\" is none of bench, row and end");
    BenchRow row;
    if (const Status read = json::read_record(json, row, {"kind"}); !read) return read;
    if (!is_sound(row)) return bad_input("the numbers cannot be measurements");
    bench.rows.push_back(std::move(row));
    return success();
}

}  // namespace

double BenchRow::noise() const {
    const auto [least, most] = std::minmax_element(quarters.begin(), quarters.end());
    return *least > 0 ? *most / *least - 1 : 0;
}

std::string line_of(const BenchHeader& header) {
    return json::line_with("bench", header);
}

std::string line_of(const BenchRow& row) {
    return json::line_with("row", row);
}

std::string last_line_of_bench() {
    return json::line_of(Json{{"kind", "end"}}) + "\n";
}

Expected<Bench> parse_bench(std::string_view text, const std::string& name) {
    Bench bench;
    std::size_t begin = 0, number = 0;
    while (begin < text.size()) {
        const std::size_t end = text.find('\n', begin);
        if (end == std::string_view::npos) break;  // a line that was never finished
        ++number;
        const std::string place = name + ", line " + std::to_string(number) + ": ";
        try {
            const Json json = Json::parse(text.substr(begin, end - begin));
            if (const Status taken = take(bench, json, number == 1); !taken)
                return Error{taken.error().kind, place + taken.error().message};
        } catch (const Json::exception& problem) {
            return bad_input(place + "is no line of a benchmark: " + problem.what());
        }
        begin = end + 1;
    }
    if (number == 0) return bad_input(name + ": holds no whole line");
    return bench;
}

Expected<Bench> read_bench(const std::string& path) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return system_error(path, "cannot open", errno);
    const auto text = read_all(file, path);
    if (!text) return text.error();
    return parse_bench(text.value(), path);
}

}  // namespace mx::results
