// A record as JSON and back by one list of its keys, `describe(archive, record)`, which the writer
// and the reader both walk: a key cannot be written under one name and read under another. The
// reader names the first key that is missing, misspelt or of the wrong kind. Used by whoever keeps
// records in files; knows no record and no file.
//
// `describe` is a template beside the record, found through it:
//
//     template <typename Archive, json::Either<Field> Given>
//     void describe(Archive& archive, Given& field) {
//         archive("key", field.key);
//     }
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/base/status.hpp"

namespace mx::json {

using Json = nlohmann::ordered_json;

// A record to be written or one to be read into.
template <typename Given, typename Record>
concept Either = std::same_as<std::remove_const_t<Given>, Record>;

// 64 random bits do not fit the doubles that many JSON readers turn numbers into, so a seed travels
// as a string of decimal digits.
template <typename Integer>
struct Decimal {
    Integer& value;
};
template <typename Integer>
Decimal(Integer&) -> Decimal<Integer>;

// What is kept as something else, a word for an enum say: `plain(value)` makes it, and
// `std::string from_plain(plain, value)` takes it back or says what is wrong with it.
template <typename Value>
concept HasPlain = requires(const Value& value) {
    plain(value);
};

// What has a describe().
template <typename Value>
concept Described = std::is_class_v<Value> && !HasPlain<Value> && !std::same_as<Value, std::string>;

class Writer {
public:
    explicit Writer(Json& object) : object_(object) {}

    template <typename Value>
    void operator()(const char* key, const Value& value) {
        object_[key] = json_of(value);
    }
    // What files of older programs lack: the reader keeps what stands there.
    template <typename Value>
    void since(const char* key, const Value& value) {
        (*this)(key, value);
    }
    // A list or a word that most records lack is not written empty.
    template <typename Items>
    void where_any(const char* key, const Items& items) {
        if (!items.empty()) (*this)(key, items);
    }
    void where_true(const char* key, bool flag) {
        if (flag) (*this)(key, flag);
    }
    template <typename Value>
    void where_known(const char* key, const std::optional<Value>& value) {
        if (value) (*this)(key, *value);
    }
    // What is not known is written as null.
    template <typename Value>
    void or_null(const char* key, const std::optional<Value>& value) {
        object_[key] = value ? json_of(*value) : Json();
    }
    // JSON has neither NaN nor Inf: null, which is read as NaN.
    void or_nan(const char* key, double number) { object_[key] = or_nan(number); }
    void since_nan(const char* key, double number) { or_nan(key, number); }
    void or_nan(const char* key, const std::vector<double>& numbers) {
        Json list = Json::array();
        for (const double number : numbers) list.push_back(or_nan(number));
        object_[key] = std::move(list);
    }

    template <typename Value>
    static Json json_of(const Value& value) {
        if constexpr (HasPlain<Value>) {
            return json_of(plain(value));
        } else if constexpr (Described<Value>) {
            Json object = Json::object();
            Writer writer(object);
            describe(writer, value);
            return object;
        } else {
            return value;
        }
    }
    template <typename Item>
    static Json json_of(const std::vector<Item>& items) {
        if constexpr (HasPlain<std::vector<Item>>)
            return json_of(plain(items));
        else
            return list_of(items);
    }

private:
    template <typename Item, std::size_t size>
    static Json json_of(const std::array<Item, size>& items) {
        return list_of(items);
    }
    template <typename Items>
    static Json list_of(const Items& items) {
        Json list = Json::array();
        for (const auto& item : items) list.push_back(json_of(item));
        return list;
    }
    static Json json_of(const std::map<std::string, std::string>& words) {
        Json object = Json::object();
        for (const auto& [key, word] : words) object[key] = word;
        return object;
    }
    template <typename Integer>
    static Json json_of(const Decimal<Integer>& decimal) {
        return std::to_string(decimal.value);
    }
    static Json or_nan(double number) { return std::isfinite(number) ? Json(number) : Json(); }
    // A duration that is none is written as no time at all.
    static Json json_of(double number) { return std::isfinite(number) ? number : 0.0; }

    Json& object_;
};

// Keeps the first problem and goes on, so that no reading function needs a way out.
class Reader {
public:
    Reader(const Json& object, std::string path, std::string& problem)
        : object_(object), path_(std::move(path)), problem_(problem) {}

    template <typename Value>
    void operator()(const char* key, Value&& value) {
        if (const Json* found = required(key)) read(*found, path_ + key, value);
    }
    template <typename Value>
    void since(const char* key, Value&& value) {
        const Json* found = find(key);
        if (found != nullptr && !found->is_null()) read(*found, path_ + key, value);
    }
    template <typename Items>
    void where_any(const char* key, Items& items) {
        if (const Json* found = find(key)) read(*found, path_ + key, items);
    }
    void where_true(const char* key, bool& flag) { since(key, flag); }
    template <typename Value>
    void where_known(const char* key, std::optional<Value>& value) {
        if (const Json* found = find(key)) read(*found, path_ + key, value.emplace());
    }
    template <typename Value>
    void or_null(const char* key, std::optional<Value>& value) {
        const Json* found = find(key);
        if (found != nullptr && !found->is_null()) read(*found, path_ + key, value.emplace());
    }
    void or_nan(const char* key, double& number) {
        if (const Json* found = required(key)) read_or_nan(*found, path_ + key, number);
    }
    void since_nan(const char* key, double& number) {
        if (const Json* found = find(key)) read_or_nan(*found, path_ + key, number);
    }
    void or_nan(const char* key, std::vector<double>& numbers) {
        const Json* found = required(key);
        if (found == nullptr) return;
        if (!found->is_array()) return complain(path_ + key, "must be an array");
        numbers.clear();
        for (const Json& each : *found) read_or_nan(each, path_ + key, numbers.emplace_back());
    }

    // A key that is read elsewhere.
    void skip(const char* key) { asked_.push_back(key); }
    // Last: a key that nobody asked for is misspelt, or of a newer program, and not ignored.
    void expect_no_more() {
        for (const auto& [key, value] : object_.items())
            if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
                complain(path_ + key.substr(0, 40), "is no key that this program knows");
    }

private:
    const Json* find(const char* key) {
        asked_.push_back(key);
        const auto found = object_.find(key);
        return found == object_.end() ? nullptr : &*found;
    }
    const Json* required(const char* key) {
        const Json* found = find(key);
        if (found == nullptr) complain(path_ + key, "is missing");
        return found;
    }

    void complain(const std::string& place, std::string_view what) {
        if (problem_.empty()) problem_ = "\"" + place + "\" " + std::string(what);
    }

    void read_or_nan(const Json& json, const std::string& place, double& number) {
        number = std::numeric_limits<double>::quiet_NaN();
        if (!json.is_null()) read(json, place, number);
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
    // nlohmann would make 3 of 3.5, and has undefined behaviour for 1e300.
    template <std::integral Integer>
    void read(const Json& json, const std::string& place, Integer& number) {
        using Limits = std::numeric_limits<Integer>;
        constexpr const char* kind = std::unsigned_integral<Integer>
                                         ? "must be a whole number, 0 or more"
                                         : "must be a whole number";
        const bool is_whole =
            std::unsigned_integral<Integer> ? json.is_number_unsigned() : json.is_number_integer();
        if (!is_whole) return complain(place, kind);
        const bool fits =
            json.is_number_unsigned()
                ? std::in_range<Integer>(json.get_ref<const Json::number_unsigned_t&>())
                : std::in_range<Integer>(json.get_ref<const Json::number_integer_t&>());
        if (!fits)
            return complain(
                place, "must fit " + std::to_string(Limits::digits + (Limits::is_signed ? 1 : 0)) +
                           " bits");
        number = json.get<Integer>();
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
    void read(const Json& json, const std::string& place,
              std::map<std::string, std::string>& words) {
        if (!json.is_object()) return complain(place, "must be an object");
        for (const auto& [key, word] : json.items()) read(word, place + "." + key, words[key]);
    }
    template <typename Item, std::size_t size>
    void read(const Json& json, const std::string& place, std::array<Item, size>& items) {
        if (!json.is_array() || json.size() != size)
            return complain(place, "must be an array of " + std::to_string(size));
        for (std::size_t i = 0; i < size; ++i)
            read(json[i], place + "[" + std::to_string(i) + "]", items[i]);
    }
    template <HasPlain Value>
    void read(const Json& json, const std::string& place, Value& value) {
        read_plain(json, place, value);
    }
    template <typename Value>
    void read_plain(const Json& json, const std::string& place, Value& value) {
        auto kept = decltype(plain(value)){};
        read(json, place, kept);
        if (!problem_.empty()) return;
        if (const std::string wrong = from_plain(kept, value); !wrong.empty())
            complain(place, wrong);
    }
    template <typename Item>
    void read(const Json& json, const std::string& place, std::vector<Item>& items) {
        if constexpr (HasPlain<std::vector<Item>>) {
            read_plain(json, place, items);
        } else {
            if (!json.is_array()) return complain(place, "must be an array");
            items.clear();
            items.reserve(json.size());
            for (const Json& each : json) {
                const std::string item_place = place + "[" + std::to_string(items.size()) + "]";
                read(each, item_place, items.emplace_back());
            }
        }
    }
    template <Described Record>
    void read(const Json& json, const std::string& place, Record& record) {
        if (!json.is_object()) return complain(place, "must be an object");
        Reader reader(json, place + ".", problem_);
        describe(reader, record);
        reader.expect_no_more();
    }

    const Json& object_;
    std::string path_;
    std::string& problem_;
    std::vector<std::string_view> asked_;
};

// In one line, without its end.
inline std::string line_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
// A record or a list of them, for people to read too.
template <typename Value>
std::string lines_of(const Value& value) {
    return Writer::json_of(value).dump(2, ' ', false, Json::error_handler_t::replace);
}

// A line of a file whose lines say of which kind they are.
template <typename Record>
std::string line_with(const char* kind, const Record& record) {
    Json object = Json::object();
    object["kind"] = kind;
    Writer writer(object);
    describe(writer, record);
    return line_of(object) + "\n";
}

// One key alone, for those that say what the others mean: a version, a kind.
template <typename Value>
Status read_key(const Json& object, const char* key, Value& value) {
    std::string problem;
    Reader(object, "", problem)(key, value);
    if (problem.empty()) return success();
    return bad_input(std::move(problem));
}

// The record that an object holds, its other keys named in `besides`. The error is a sentence.
template <typename Record>
Status read_record(const Json& object, Record& record,
                   const std::vector<const char*>& besides = {}) {
    std::string problem;
    Reader reader(object, "", problem);
    for (const char* key : besides) reader.skip(key);
    describe(reader, record);
    reader.expect_no_more();
    if (problem.empty()) return success();
    return bad_input(std::move(problem));
}

}  // namespace mx::json
