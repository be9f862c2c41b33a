// Writing a file whole or not at all. Used by tensor_file.cpp; knows nothing of what is in it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "device/host/status.hpp"

namespace mx::data {

// Writes the parts, one after another, to a temporary beside `path`, flushes them to the disk and
// renames. On any failure `path` is as it was and the temporary is gone. A path that exists and is
// no regular file is refused; through a symbolic link the file it points to is replaced.
Status write_atomically(const std::string& path,
                        const std::vector<std::span<const std::byte>>& parts);

}  // namespace mx::data
