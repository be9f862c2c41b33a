// A list in one string, as tables have it: words separated by blanks.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace mx {

inline std::vector<std::string_view> words_in(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find(' ', start), text.size());
        if (end > start) words.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return words;
}

}  // namespace mx
