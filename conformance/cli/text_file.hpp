// A file of the user's, whole in memory. Used where a command reads text.
#pragma once

#include <string>

#include "device/host/status.hpp"

namespace mx::cli {

// "FILE cannot be read" otherwise; a directory, which opens like a file, cannot.
Expected<std::string> text_of_file(const std::string& path);

}  // namespace mx::cli
