// One line of a results file to and from a record, by one list of keys that both directions walk.
// Used by the results file reader and writer. The only file of the program's own that includes JSON
// for results; must not know files.
#include "conformance/results/record_json.hpp"

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace mx::results {
namespace {

using Json = nlohmann::ordered_json;

template <typename Given, typename Wanted>
concept RecordOf = std::same_as<std::remove_const_t<Given>, Wanted>;

// 64 random bits do not fit the doubles that many JSON readers turn numbers into, so a seed travels
// as a string of decimal digits.
template <typename Integer>
struct Decimal {
    Integer& value;
};

template <typename Archive, RecordOf<Field> Given>
void describe(Archive& archive, Given& field) {
    archive("key", field.key);
    archive("value", field.value);
}

template <typename Archive, RecordOf<Waiver> Given>
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

template <typename Archive, RecordOf<Mismatch> Given>
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

template <typename Archive, RecordOf<CaseResult> Given>
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
}

template <typename Archive, RecordOf<RunHeader> Given>
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
    archive("seed", Decimal<std::remove_reference_t<decltype((header.seed))>>{header.seed});
    archive("shard", header.shard);
    archive("case_count", header.case_count);
    archive("device", header.device);
    archive("device_facts", header.device_facts);
    archive("environment", header.environment);
    archive("table_hashes", header.table_hashes);
    archive.where_any("waivers", header.waivers);
    archive.where_any("demands", header.demands);
}

template <typename Archive, RecordOf<RunFooter> Given>
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
}

class JsonWriter {
public:
    explicit JsonWriter(Json& object) : object_(object) {}

    template <typename Value>
    void operator()(const char* key, const Value& value) {
        object_[key] = json_of(value);
    }

    // A list or a word that most files lack is not written empty.
    template <typename Items>
    void where_any(const char* key, const Items& items) {
        if (!items.empty()) (*this)(key, items);
    }
    void where_known(const char* key, const std::optional<double>& number) {
        if (number) (*this)(key, *number);
    }

private:
    template <typename Value>
    static Json json_of(const Value& value) {
        if constexpr (std::is_class_v<Value> && !std::same_as<Value, std::string>) {
            Json object = Json::object();
            JsonWriter writer(object);
            describe(writer, value);
            return object;
        } else {
            return value;
        }
    }
    template <typename Item>
    static Json json_of(const std::vector<Item>& items) {
        Json array = Json::array();
        for (const Item& item : items) array.push_back(json_of(item));
        return array;
    }
    // Runs are many: three numbers each, in one list.
    static Json json_of(const Histogram& histogram) {
        Json array = Json::array();
        for (const CellRun& run : histogram)
            for (const std::uint64_t number : {run.first, run.cells, run.each})
                array.push_back(number);
        return array;
    }
    template <typename Integer>
    static Json json_of(const Decimal<Integer>& decimal) {
        return std::to_string(decimal.value);
    }
    static Json json_of(Verdict verdict) { return std::string(name_of(verdict)); }
    // JSON has no NaN; a duration that is none is written as no time at all.
    static Json json_of(double number) { return std::isfinite(number) ? number : 0.0; }

    Json& object_;
};

// Keeps the first problem and goes on, so that no reading function needs a way out.
class JsonReader {
public:
    JsonReader(const Json& object, std::string path, std::string& problem)
        : object_(object), path_(std::move(path)), problem_(problem) {}

    template <typename Value>
    void operator()(const char* key, Value&& value) {
        const auto found = object_.find(key);
        if (found == object_.end()) {
            complain(path_ + key, "is missing");
            return;
        }
        read(*found, path_ + key, value);
    }

    template <typename Items>
    void where_any(const char* key, Items& items) {
        if (object_.contains(key)) (*this)(key, items);
    }
    void where_known(const char* key, std::optional<double>& number) {
        if (object_.contains(key)) (*this)(key, number.emplace());
    }

private:
    void complain(const std::string& place, std::string_view what) {
        if (problem_.empty()) problem_ = "\"" + place + "\" " + std::string(what);
    }

    void read(const Json& json, const std::string& place, std::string& text) {
        if (!json.is_string()) return complain(place, "must be a string");
        text = json.get<std::string>();
    }
    void read(const Json& json, const std::string& place, bool& flag) {
        if (!json.is_boolean()) return complain(place, "must be true or false");
        flag = json.get<bool>();
    }
    void read(const Json& json, const std::string& place, double& number) {
        if (!json.is_number()) return complain(place, "must be a number");
        number = json.get<double>();
    }
    void read(const Json& json, const std::string& place, int& number) {
        using Limits = std::numeric_limits<int>;
        if (!json.is_number_integer() || json.get<double>() < Limits::min() ||
            json.get<double>() > Limits::max())
            return complain(place, "must be a whole number of 32 bits");
        number = json.get<int>();
    }
    void read(const Json& json, const std::string& place, std::uint64_t& number) {
        if (!json.is_number_unsigned()) return complain(place, "must be a whole number, 0 or more");
        number = json.get<std::uint64_t>();
    }
    void read(const Json& json, const std::string& place, std::uint32_t& number) {
        std::uint64_t wide = 0;
        read(json, place, wide);
        if (wide > std::numeric_limits<std::uint32_t>::max())
            return complain(place, "must fit 32 bits");
        number = static_cast<std::uint32_t>(wide);
    }
    template <typename Integer>
    void read(const Json& json, const std::string& place, Decimal<Integer>& decimal) {
        std::string digits;
        read(json, place, digits);
        const char* end = digits.data() + digits.size();
        const auto [stop, error] = std::from_chars(digits.data(), end, decimal.value);
        if (error != std::errc{} || stop != end)
            complain(place, "must be a string of decimal digits below 2^64");
    }
    void read(const Json& json, const std::string& place, Verdict& verdict) {
        std::string name;
        read(json, place, name);
        if (!verdict_from_name(name, verdict))
            complain(place, "is \"" + name.substr(0, 40) + "\", which is no verdict");
    }
    void read(const Json& json, const std::string& place, Histogram& histogram) {
        std::vector<std::uint64_t> numbers;
        read(json, place, numbers);
        if (numbers.size() % 3 != 0) return complain(place, "must hold three numbers for each run");
        for (std::size_t at = 0; at < numbers.size(); at += 3)
            histogram.push_back({numbers[at], numbers[at + 1], numbers[at + 2]});
        std::uint64_t free = 0;
        for (const CellRun& run : histogram) {
            const bool fits = run.first >= free && run.cells >= 1 &&
                              run.first < histogram_cells_max &&
                              run.cells <= histogram_cells_max - run.first;
            if (!fits) return complain(place, "must hold runs of cells below 65536, in order");
            free = run.first + run.cells;
        }
    }
    template <typename Item>
    void read(const Json& json, const std::string& place, std::vector<Item>& items) {
        if (!json.is_array()) return complain(place, "must be an array");
        items.clear();
        items.reserve(json.size());
        for (const Json& each : json) {
            const std::string item_place = place + "[" + std::to_string(items.size()) + "]";
            read(each, item_place, items.emplace_back());
        }
    }
    template <typename Struct>
    void read(const Json& json, const std::string& place, Struct& record) {
        if (!json.is_object()) return complain(place, "must be an object");
        JsonReader reader(json, place + ".", problem_);
        describe(reader, record);
    }

    const Json& object_;
    std::string path_;
    std::string& problem_;
};

template <typename Struct>
std::string line_with(const char* kind, const Struct& record) {
    Json object = Json::object();
    object["kind"] = kind;
    JsonWriter writer(object);
    describe(writer, record);
    return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Error bad_line(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

// Fills the record where it will stay: moved into place, g++ 12 believes it uninitialised.
template <typename Struct>
Expected<Record> record_with(const Json& object) {
    Expected<Record> record{Record(std::in_place_type<Struct>)};
    std::string problem;
    JsonReader reader(object, "", problem);
    describe(reader, std::get<Struct>(record.value()));
    if (!problem.empty()) return bad_line(std::move(problem));
    return record;
}

Expected<Record> header_of(const Json& object) {
    // The version decides what the other keys mean, so it is asked first and alone.
    int version = 0;
    std::string problem;
    JsonReader reader(object, "", problem);
    reader("version", version);
    if (!problem.empty()) return bad_line(std::move(problem));
    if (version != format_version)
        return bad_line("results format version " + std::to_string(version) +
                        " is unknown here: this program reads version " +
                        std::to_string(format_version));
    return record_with<RunHeader>(object);
}

Expected<Record> record_of_object(const Json& object) {
    if (!object.is_object()) return bad_line("a line must be a JSON object");
    std::string kind;
    std::string problem;
    JsonReader reader(object, "", problem);
    reader("kind", kind);
    if (!problem.empty()) return bad_line(std::move(problem));
    if (kind == "header") return header_of(object);
    if (kind == "case") return record_with<CaseResult>(object);
    if (kind == "footer") return record_with<RunFooter>(object);
    return bad_line("\"kind\" is \"" + kind.substr(0, 40) + "\", not header, case or footer");
}

}  // namespace

std::string line_of(const RunHeader& header) {
    return line_with("header", header);
}
std::string line_of(const CaseResult& result) {
    return line_with("case", result);
}
std::string line_of(const RunFooter& footer) {
    return line_with("footer", footer);
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
