// Small texts: what a plug-in wrote made safe to print, the nearest name, numbers and lists in
// words. Used wherever sentences are made; knows nothing of what they are about.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mx {

// The text on one line of valid UTF-8: control characters become spaces, invalid bytes '?', blanks
// at the ends go. A plug-in may write anything into a message.
std::string printable(std::string_view text);

// The name with the fewest edits to `wanted`, or "" when none is near enough to be a slip of the
// finger (a third of the word, at least two edits, never all of it).
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names);

// "200 ms", "60 s".
std::string to_text(std::chrono::milliseconds duration);

// "4,194,304"
std::string grouped(std::uint64_t number);

// "0.1235", "1.234e-05"
std::string four_digits(double number);

// "1 case", "2,048 cases": the plural is the noun with an s.
std::string counted(std::uint64_t number, std::string_view noun);

// "nv = te-specialised"; empty words are left out.
std::string joined(const std::vector<std::string>& words, std::string_view between);

}  // namespace mx
