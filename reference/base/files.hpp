// A user's file, whole in memory or whole on the disk. Used by whoever reads or writes text and
// tensors; knows nothing of what is in a file.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reference/base/status.hpp"

namespace mx {

// "FILE cannot be read" otherwise; a directory, which opens like a file, cannot.
Expected<std::string> text_of_file(const std::string& path);

// Writes the parts, one after another, to a temporary beside `path`, flushes them to the disk and
// renames. On any failure `path` is as it was and the temporary is gone. A path that exists and is
// no regular file is refused; through a symbolic link the file it points to is replaced.
Status write_atomically(const std::string& path,
                        const std::vector<std::span<const std::byte>>& parts);

}  // namespace mx
