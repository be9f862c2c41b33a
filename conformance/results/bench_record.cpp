// See bench_record.hpp. Every key that is written must be there when it is read.
#include "conformance/results/bench_record.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "conformance/results/results_file.hpp"

namespace mx::results {
namespace {

using Json = nlohmann::ordered_json;

void to_json(Json& json, const Field& field) {
    json = Json{{"key", field.key}, {"value", field.value}};
}
void from_json(const Json& json, Field& field) {
    json.at("key").get_to(field.key);
    json.at("value").get_to(field.value);
}

// One list of keys for both directions.
template <typename Header, typename Visit>
void walk_header(Header& header, Visit visit) {
    visit("version", header.version);
    visit("program_version", header.program_version);
    visit("commit", header.commit);
    visit("dirty", header.dirty);
    visit("argv", header.argv);
    visit("started", header.started);
    visit("device", header.device);
    visit("data", header.data);
    visit("place", header.place);
    visit("clock", header.clock);
}
template <typename Row, typename Visit>
void walk_row(Row& row, Visit visit) {
    visit("what", row.what);
    visit("shape", row.shape);
    visit("types", row.types);
    visit("cache", row.cache);
    visit("reason", row.reason);
    visit("bytes", row.bytes);
    visit("operations", row.operations);
    visit("samples", row.samples);
    visit("batch", row.batch);
    visit("seconds", row.seconds);
    visit("low", row.low);
    visit("high", row.high);
    visit("quarters", row.quarters);
    visit("roof_share", row.roof_share);
    visit("state_before", row.state_before);
    visit("state_after", row.state_after);
}

Json fields_json(const std::vector<Field>& fields) {
    Json list = Json::array();
    for (const Field& field : fields) {
        Json json;
        to_json(json, field);
        list.push_back(json);
    }
    return list;
}
std::vector<Field> fields_of(const Json& list) {
    std::vector<Field> fields;
    for (const Json& json : list) from_json(json, fields.emplace_back());
    return fields;
}

std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool is_sound(const BenchRow& row) {
    for (const double number : {row.seconds, row.low, row.high, row.roof_share})
        if (!std::isfinite(number) || number < 0) return false;
    const auto [least, most] = std::minmax_element(row.quarters.begin(), row.quarters.end());
    const bool is_measured = row.samples > 0 && row.batch > 0 && row.seconds > 0 && *least > 0 &&
                             std::isfinite(*most) && row.low <= row.high;
    return is_measured == row.reason.empty();
}

Status take(Bench& bench, const Json& json, bool is_first) {
    const auto read = [&json](const char* key, auto& value) {
        using Value = std::remove_reference_t<decltype(value)>;
        // nlohmann cuts a fraction, and has undefined behaviour for 1e300.
        if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>)
            value = static_cast<Value>(json.at(key).get_ref<const Json::number_unsigned_t&>());
        else
            json.at(key).get_to(value);
    };
    const std::string kind = json.at("kind").get<std::string>();
    if (is_first != (kind == "bench"))
        return Error{ErrorKind::bad_input, "a benchmark has one header, and that first"};
    if (is_first) {
        walk_header(bench.header, read);
        if (bench.header.version != bench_format_version)
            return Error{
                ErrorKind::bad_input,
                "format version " + std::to_string(bench.header.version) + " is unknown here"};
        bench.header.device_facts = fields_of(json.at("device_facts"));
        bench.header.environment = fields_of(json.at("environment"));
        return success();
    }
    if (bench.complete)
        return Error{ErrorKind::bad_input, "there is a line after the end of the benchmark"};
    bench.complete = kind == "end";
    if (bench.complete) return success();
    if (kind != "row") return Error{ErrorKind::bad_input, "\"kind\" is none of bench, row and end"};
    BenchRow row;
    walk_row(row, read);
    if (!is_sound(row)) return Error{ErrorKind::bad_input, "the numbers cannot be measurements"};
    bench.rows.push_back(std::move(row));
    return success();
}

}  // namespace

double BenchRow::noise() const {
    const auto [least, most] = std::minmax_element(quarters.begin(), quarters.end());
    return *least > 0 ? *most / *least - 1 : 0;
}

std::string line_of(const BenchHeader& header) {
    Json json{{"kind", "bench"}};
    walk_header(header, [&json](const char* key, const auto& value) { json[key] = value; });
    json["device_facts"] = fields_json(header.device_facts);
    json["environment"] = fields_json(header.environment);
    return text_of(json);
}

std::string line_of(const BenchRow& row) {
    Json json{{"kind", "row"}};
    walk_row(row, [&json](const char* key, const auto& value) { json[key] = value; });
    return text_of(json);
}

std::string last_line_of_bench() {
    return text_of(Json{{"kind", "end"}});
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
            return Error{ErrorKind::bad_input,
                         place + "is no line of a benchmark: " + problem.what()};
        }
        begin = end + 1;
    }
    if (number == 0) return Error{ErrorKind::bad_input, name + ": holds no whole line"};
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
