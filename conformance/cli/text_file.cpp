// See text_file.hpp.
#include "conformance/cli/text_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace mx::cli {

Expected<std::string> text_of_file(const std::string& path) {
    std::error_code ignored;
    const bool is_directory = std::filesystem::is_directory(path, ignored);
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (is_directory) return Error{ErrorKind::bad_input, path + " cannot be read: a directory"};
    if (!file) return Error{ErrorKind::bad_input, path + " cannot be read"};
    return std::move(text).str();
}

}  // namespace mx::cli
