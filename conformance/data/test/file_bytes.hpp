// Tensor files made by hand, piece by piece, for the tests of the readers. Knows nothing of the
// writers, so that a test of a reader does not lean on its own other half.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/data/host_tensor.hpp"

namespace mx::data::test {

inline std::vector<std::byte> to_bytes(std::string_view text) {
    std::vector<std::byte> bytes;
    for (const char character : text) bytes.push_back(static_cast<std::byte>(character));
    return bytes;
}

inline std::string little_endian_text(std::uint64_t value, int width) {
    std::string text;
    for (int i = 0; i < width; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
    return text;
}

// A .npy whose header's length field tells the truth.
inline std::string npy_text(std::string_view header, std::string_view payload, char major = 1) {
    std::string text = "\x93NUMPY";
    text += major;
    text += '\0';
    return text + little_endian_text(header.size(), major == 1 ? 2 : 4) + std::string(header) +
           std::string(payload);
}

// A safetensors file whose length field tells the truth.
inline std::string safetensors_text(std::string_view json, std::string_view payload) {
    return little_endian_text(json.size(), 8) + std::string(json) + std::string(payload);
}

// An error that opens with the file's name and says `part`.
template <typename T>
void expect_error(const Expected<T>& result, std::string_view name, std::string_view part) {
    ASSERT_FALSE(result.ok()) << "no error that says: " << part;
    const std::string& message = result.error().message;
    EXPECT_TRUE(message.starts_with(std::string(name) + ": ")) << message;
    EXPECT_NE(message.find(part), message.npos) << message << "\nshould say: " << part;
    EXPECT_EQ(message.find('\n'), message.npos) << message;
}

// A directory of the test's own, gone at its end.
class ScratchDirectory {
public:
    ScratchDirectory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "mxcheck.XXXXXX").string();
        if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    ~ScratchDirectory() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }

    std::string at(const std::string& name) const { return (path_ / name).string(); }
    std::size_t file_count() const {
        using Iterator = std::filesystem::directory_iterator;
        return static_cast<std::size_t>(std::distance(Iterator(path_), Iterator()));
    }

private:
    std::filesystem::path path_;
};

inline void put(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary).write(text.data(), static_cast<long>(text.size()));
}

inline std::string get(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace mx::data::test
