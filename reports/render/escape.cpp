// Makes any text safe inside HTML, XML and Markdown. Used by all renderers. Must not know what the
// text means.
#include "reports/render/escape.hpp"

#include <algorithm>
#include <cstdint>

namespace mx::reports {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

struct Decoded {
    std::uint32_t point = 0;
    std::size_t size = 0;  // bytes; 0 when the bytes are not UTF-8
};

// One code point at the start of `text`: shortest forms only, no surrogates, at most U+10FFFF.
Decoded decode(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
    std::uint32_t point = lead & (0x7fu >> size);
    for (std::size_t at = 1; at < size; ++at) {
        if ((byte(at) & 0xc0) != 0x80) return {};
        point = (point << 6) | (byte(at) & 0x3fu);
    }
    const bool too_long = (size == 3 && point < 0x800) || (size == 4 && point < 0x10000);
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    if (too_long || surrogate || point > 0x10ffff) return {};
    return {point, size};
}

bool is_printable(std::uint32_t point) {
    if (point == '\t' || point == '\n') return true;
    if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return false;
    // Direction overrides could make a page show other bits than it holds.
    if ((point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069)) return false;
    return point != 0xfffe && point != 0xffff;
}

std::string on_one_line(std::string_view text) {
    std::string line = printable(text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::replace(line.begin(), line.end(), '\t', ' ');
    return line;
}

// What would begin a tag or an entity, in all three; "" for any other character.
std::string_view entity_of(char character) {
    switch (character) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        default:
            return "";
    }
}

std::size_t longest_run(std::string_view text, char wanted) {
    std::size_t longest = 0, run = 0;
    for (const char character : text) {
        run = character == wanted ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return longest;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const Decoded decoded = decode(text);
        const std::size_t size = std::max<std::size_t>(decoded.size, 1);
        if (decoded.size != 0 && is_printable(decoded.point))
            clean += text.substr(0, size);
        else
            clean += replacement;
        text.remove_prefix(size);
    }
    return clean;
}

std::string escape_markup(std::string_view text) {
    std::string escaped;
    for (const char character : printable(text)) {
        const std::string_view entity = entity_of(character);
        if (!entity.empty())
            escaped += entity;
        else if (character == '"')
            escaped += "&quot;";
        else if (character == '\'')
            escaped += "&#39;";
        else
            escaped.push_back(character);
    }
    return escaped;
}

std::string escape_markdown(std::string_view text) {
    constexpr std::string_view marks = "\\`*_[]|~";
    std::string escaped;
    for (const char character : on_one_line(text)) {
        const std::string_view entity = entity_of(character);
        if (!entity.empty()) {
            escaped += entity;
        } else if (character == '@') {
            escaped += "&#64;";  // mentions nobody
        } else if (character == '#') {
            escaped += "&#35;";  // links no issue
        } else {
            if (marks.find(character) != std::string_view::npos) escaped.push_back('\\');
            escaped.push_back(character);
        }
    }
    return escaped;
}

std::string markdown_code_block(std::string_view text) {
    const std::string clean = printable(text);
    const std::string fence(std::max<std::size_t>(3, longest_run(clean, '`') + 1), '`');
    return fence + "text\n" + clean + "\n" + fence + "\n";
}

std::string markdown_code_span(std::string_view text) {
    std::string clean;
    for (const char character : on_one_line(text)) {
        if (character == '|') clean.push_back('\\');  // a table ends a cell even inside code
        clean.push_back(character);
    }
    const std::string fence(longest_run(clean, '`') + 1, '`');
    if (fence.size() == 1) return fence + clean + fence;
    return fence + " " + clean + " " + fence;
}

}  // namespace mx::reports
