// See files.hpp.
#include "reference/base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace mx {
namespace {

std::string reason(int error_number) {
    return std::generic_category().message(error_number);
}

Error write_error(const std::string& path, int error_number) {
    const bool users_mistake =
        error_number == ENOENT || error_number == ENOTDIR || error_number == ENAMETOOLONG;
    return {users_mistake ? ErrorKind::bad_input : ErrorKind::system,
            path + ": cannot write: " + reason(error_number)};
}

// The file to replace: what a symbolic link points to, else the path itself.
Expected<std::string> target_of(const std::string& path) {
    std::error_code error;
    std::filesystem::path target = path;
    if (std::filesystem::is_symlink(path, error)) {
        target = std::filesystem::weakly_canonical(path, error);
        if (error) return write_error(path, error.value());
    }
    const auto kind = std::filesystem::status(target, error).type();
    if (kind == std::filesystem::file_type::directory)
        return bad_input(path + ": cannot write: is a directory");
    if (kind != std::filesystem::file_type::regular &&
        kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::none)
        return bad_input(path + ": cannot write: is a device or pipe");
    // A rename would quietly replace a file that its owner has made read-only.
    if (kind == std::filesystem::file_type::regular && ::access(target.c_str(), W_OK) != 0)
        return write_error(path, errno);
    return target.string();
}

// A file of our own that vanishes again unless it was renamed into place.
class Temporary {
public:
    Temporary() = default;
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        if (descriptor_ >= 0) ::close(descriptor_);
        if (!path_.empty()) ::unlink(path_.c_str());
    }

    // Each returns 0 or an errno.
    int create(const std::string& target) {
        constexpr int attempts = 100;  // leftovers of a killed process with our number
        for (int attempt = 0; attempt < attempts; ++attempt) {
            const std::string candidate =
                target + "." + std::to_string(::getpid()) + "." + std::to_string(attempt) + ".tmp";
            const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
            descriptor_ = ::open(candidate.c_str(), flags, 0666);
            if (descriptor_ >= 0) {
                path_ = candidate;
                return 0;
            }
            if (errno != EEXIST) return errno;
        }
        return EEXIST;
    }

    int write(std::span<const std::byte> bytes) const {
        while (!bytes.empty()) {
            const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
            if (done < 0 && errno == EINTR) continue;
            if (done < 0) return errno;
            bytes = bytes.subspan(static_cast<std::size_t>(done));
        }
        return 0;
    }

    int move_to(const std::string& target) {
        if (::fsync(descriptor_) != 0) return errno;
        const int closed = ::close(descriptor_);
        descriptor_ = -1;
        if (closed != 0) return errno;
        if (std::rename(path_.c_str(), target.c_str()) != 0) return errno;
        path_.clear();
        return 0;
    }

private:
    int descriptor_ = -1;
    std::string path_;
};

}  // namespace

Expected<std::string> text_of_file(const std::string& path) {
    std::error_code ignored;
    const bool is_directory = std::filesystem::is_directory(path, ignored);
    if (is_directory) return bad_input(path + " cannot be read: a directory");
    std::ifstream file(path, std::ios::binary);
    if (!file) return bad_input(path + " cannot be read");
    // Once, where the size is known: a text that grows is there twice.
    std::string text;
    const auto size = std::filesystem::file_size(path, ignored);
    if (!ignored) text.reserve(size);
    std::array<char, 65536> chunk{};
    while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0)
        text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    if (file.bad()) return bad_input(path + " cannot be read");
    return text;
}

Status write_atomically(const std::string& path,
                        const std::vector<std::span<const std::byte>>& parts) {
    const auto target = target_of(path);
    if (!target) return target.error();
    Temporary temporary;
    int failure = temporary.create(target.value());
    for (std::size_t i = 0; failure == 0 && i < parts.size(); ++i)
        failure = temporary.write(parts[i]);
    if (failure == 0) failure = temporary.move_to(target.value());
    if (failure != 0) return write_error(path, failure);
    return success();
}

}  // namespace mx
