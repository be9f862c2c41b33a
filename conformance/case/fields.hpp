// Words of the form key=value, as case and suite lines are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/base/status.hpp"

namespace mx {

struct KeyValue {
    std::string key;
    std::string value;
    bool operator==(const KeyValue&) const = default;
};

// A first word without "=", then key=value words. A key given twice is an error. A value with
// blanks stands in double quotes; in them \" and \\ stand for " and \.
struct Words {
    std::string head;
    std::vector<KeyValue> fields;
};
Expected<Words> split_words(const std::string& text);

// key=value with quotes where the value needs them.
std::string print_field(std::string_view key, std::string_view value);

// In single quotes, as a shell takes it whole.
std::string shell_quoted(std::string_view text);

// A decimal number; `what` opens the error.
Expected<std::uint64_t> parse_number(std::string_view what, std::string_view text);

struct ShapeText {
    std::int64_t rows;
    std::int64_t columns;
};
// "4096x32"
Expected<ShapeText> parse_shape(std::string_view text);

}  // namespace mx
