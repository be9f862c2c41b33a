// See text.hpp.
#include "reference/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>

namespace mx {

namespace {

// Length of the valid UTF-8 sequence of more than one byte at the front of `text`, or 0.
std::size_t multibyte_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t lead = byte(0);
    const std::size_t length = lead >= 0xF5   ? 0
                               : lead >= 0xF0 ? 4
                               : lead >= 0xE0 ? 3
                               : lead >= 0xC2 ? 2
                                              : 0;
    if (length == 0 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
    }
    const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
    const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    const bool too_large = lead == 0xF4 && byte(1) >= 0x90;
    return overlong || surrogate || too_large ? 0 : length;
}

std::size_t edit_distance(std::string_view wanted, std::string_view name) {
    std::vector<std::size_t> row(name.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < name.size(); ++j) {
            const std::size_t replaced = diagonal + (wanted[i] == name[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string printable(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const auto lead = static_cast<std::uint8_t>(text.front());
        std::size_t length = 1;
        if (lead < 0x20 || lead == 0x7F) {
            line += ' ';
        } else if (lead < 0x80) {
            line += text.front();
        } else if (const std::size_t multibyte = multibyte_length(text); multibyte > 0) {
            line += text.substr(0, multibyte);
            length = multibyte;
        } else {
            line += '?';
        }
        text.remove_prefix(length);
    }
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos) return "";
    return line.substr(first, line.find_last_not_of(' ') - first + 1);
}

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names) {
    std::string nearest;
    std::size_t allowed = std::max<std::size_t>(2, wanted.size() / 3);
    for (const std::string& name : names) {
        const std::size_t distance = edit_distance(wanted, name);
        if (distance > allowed || distance >= wanted.size() || distance >= name.size()) continue;
        if (!nearest.empty() && distance == allowed) continue;  // the first of equals stays
        nearest = name;
        allowed = distance;
    }
    return nearest;
}

std::string to_text(std::chrono::milliseconds duration) {
    const auto count = duration.count();
    return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t from_end = 3; from_end < digits.size(); from_end += 4)
        digits.insert(digits.size() - from_end, 1, ',');
    return digits;
}

std::string four_digits(double number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", number);
    return text.data();
}

std::string counted(std::uint64_t number, std::string_view noun) {
    std::string text = grouped(number);
    text.append(" ").append(noun);
    if (number != 1) text.append("s");
    return text;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    std::string text;
    for (const std::string& word : words) {
        if (word.empty()) continue;
        if (!text.empty()) text += between;
        text += word;
    }
    return text;
}

}  // namespace mx
