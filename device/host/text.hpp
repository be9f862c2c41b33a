// Small texts at the edge to a device: what a plug-in wrote made safe to print, the nearest name.
// Used by device/host, and by whoever names things on a command line; knows nothing of devices.
#pragma once

#include <chrono>
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

}  // namespace mx
