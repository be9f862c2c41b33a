// See fields.hpp.
#include "conformance/case/fields.hpp"

#include <charconv>
#include <limits>

namespace mx {
namespace {

// Reads one word from `at` on: blanks end it unless they stand in double quotes.
Expected<std::string> next_word(const std::string& text, std::size_t& at) {
    std::string word;
    bool quoted = false;
    for (; at < text.size() && (quoted || (text[at] != ' ' && text[at] != '\t')); ++at) {
        if (text[at] == '"') {
            quoted = !quoted;
            continue;
        }
        if (quoted && text[at] == '\\' && at + 1 < text.size()) ++at;
        word += text[at];
    }
    if (quoted) return bad_input("a double quote is not closed in: " + text);
    return word;
}

}  // namespace

Expected<Words> split_words(const std::string& text) {
    Words words;
    std::size_t at = 0;
    while (true) {
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
        if (at == text.size()) break;
        auto word = next_word(text, at);
        if (!word) return word.error();
        const std::size_t equals = word.value().find('=');
        // Values alone are printed in quotes.
        if (word.value().substr(0, equals).find_first_of(" \t\"\\") != std::string::npos)
            return bad_input("'" + word.value().substr(0, equals) +
                             "' has a blank, a quote or a backslash, which no name has");
        if (equals == std::string::npos) {
            if (!words.head.empty() || !words.fields.empty())
                return bad_input("'" + word.value() + "' is not of the form key=value");
            words.head = word.value();
            continue;
        }
        KeyValue field{word.value().substr(0, equals), word.value().substr(equals + 1)};
        for (const KeyValue& earlier : words.fields)
            if (earlier.key == field.key) return bad_input("'" + field.key + "' is given twice");
        words.fields.push_back(std::move(field));
    }
    if (words.head.empty())
        return bad_input("the first word must be an operation, but the text is '" + text + "'");
    return words;
}

std::string print_field(std::string_view key, std::string_view value) {
    std::string text = std::string(key) + "=";
    if (value.find_first_of(" \t\"\\") == std::string_view::npos) return text + std::string(value);
    text += '"';
    for (const char c : value) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text + '"';
}

std::string shell_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

Expected<std::uint64_t> parse_number(std::string_view what, std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range)
        return bad_input(std::string(what) + " '" + std::string(text) + "' does not fit 64 bits");
    if (error != std::errc{} || end != text.data() + text.size())
        return bad_input(std::string(what) + " '" + std::string(text) + "' is not a whole number");
    return number;
}

Expected<ShapeText> parse_shape(std::string_view text) {
    const std::size_t cross = text.find('x');
    if (cross == std::string_view::npos)
        return bad_input("shape '" + std::string(text) + "' is not of the form ROWSxCOLUMNS");
    auto rows = parse_number("rows", text.substr(0, cross));
    if (!rows) return rows.error();
    auto columns = parse_number("columns", text.substr(cross + 1));
    if (!columns) return columns.error();
    // 2^40 elements are beyond any memory this program meets, and far from overflowing a byte size.
    constexpr std::uint64_t limit = std::uint64_t{1} << 40;
    if (rows.value() > limit || columns.value() > limit ||
        (rows.value() != 0 && columns.value() > limit / rows.value()))
        return bad_input("shape '" + std::string(text) + "' has more than 2^40 elements");
    return ShapeText{static_cast<std::int64_t>(rows.value()),
                     static_cast<std::int64_t>(columns.value())};
}

}  // namespace mx
