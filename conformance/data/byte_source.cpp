// Reading bytes from files and buffers, with every failure a sentence. Used by the tensor file
// parsers; knows nothing of what the bytes mean.
#include "conformance/data/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <new>
#include <stdexcept>
#include <system_error>

namespace mx::data {
namespace {

std::string reason(int error_number) {
    return std::generic_category().message(error_number);
}

class FileSource final : public ByteSource {
public:
    FileSource(int descriptor, std::uint64_t size, std::string name)
        : descriptor_(descriptor), size_(size), name_(std::move(name)) {}
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;
    ~FileSource() override { ::close(descriptor_); }

    const std::string& name() const override { return name_; }
    std::uint64_t size() const override { return size_; }

    Status read(std::uint64_t offset, std::span<std::byte> into) const override {
        while (!into.empty()) {
            const ssize_t got =
                ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0)
                return Error{ErrorKind::system, name_ + ": cannot read at byte " +
                                                    std::to_string(offset) + ": " + reason(errno)};
            if (got == 0)
                return Error{ErrorKind::system,
                             name_ + ": became shorter while it was read; ends at byte " +
                                 std::to_string(offset)};
            offset += static_cast<std::uint64_t>(got);
            into = into.subspan(static_cast<std::size_t>(got));
        }
        return success();
    }

private:
    int descriptor_;
    std::uint64_t size_;
    std::string name_;
};

// What can be taken without swapping: the kernel's own estimate where there is one, else all.
std::uint64_t available_memory() {
    std::ifstream facts("/proc/meminfo");
    std::string key, unit;
    std::uint64_t kibibytes = 0;
    while (facts >> key >> kibibytes && std::getline(facts, unit))
        if (key == "MemAvailable:") return kibibytes * 1024;
    return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Error no_memory(const ByteSource& source, std::uint64_t size, std::string_view why) {
    return {ErrorKind::system, source.name() + ": needs " + std::to_string(size) +
                                   " bytes of memory, " + std::string(why)};
}

}  // namespace

Status MemorySource::read(std::uint64_t offset, std::span<std::byte> into) const {
    const auto from = bytes_.subspan(offset, into.size());
    std::copy(from.begin(), from.end(), into.begin());
    return success();
}

Expected<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
    if (path.empty()) return bad_input("the path of a tensor file is empty");
    // O_NONBLOCK: opening a pipe nobody writes to would otherwise wait for ever.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        const int why = errno;
        const bool users_mistake = why == ENOENT || why == ENOTDIR || why == ENAMETOOLONG;
        return Error{users_mistake ? ErrorKind::bad_input : ErrorKind::system,
                     path + ": cannot open for reading: " + reason(why)};
    }
    struct stat facts {};
    const bool known = ::fstat(descriptor, &facts) == 0;
    if (!known || !S_ISREG(facts.st_mode)) {
        const std::string why = !known                   ? reason(errno)
                                : S_ISDIR(facts.st_mode) ? "is a directory, not a tensor file"
                                                         : "is a device or pipe, not a tensor file";
        ::close(descriptor);
        return bad_input(path + ": " + why);
    }
    return std::unique_ptr<ByteSource>(
        std::make_unique<FileSource>(descriptor, static_cast<std::uint64_t>(facts.st_size), path));
}

Status check_memory(const ByteSource& source, std::uint64_t size) {
    constexpr std::uint64_t small = 1u << 20;  // not worth the question
    if (size <= small) return success();
    const std::uint64_t available = available_memory();
    if (size > available)
        return no_memory(source, size,
                         "but this machine has " + std::to_string(available) + " free");
    return success();
}

Expected<std::vector<std::byte>> allocate(const ByteSource& source, std::uint64_t size) {
    if (const Status enough = check_memory(source, size); !enough) return enough.error();
    try {
        return std::vector<std::byte>(size);
    } catch (const std::bad_alloc&) {
        return no_memory(source, size, "which the system refused");
    } catch (const std::length_error&) {
        return no_memory(source, size, "which the system refused");
    }
}

Expected<std::vector<std::byte>> read_range(const ByteSource& source, ByteRange range,
                                            std::string_view what) {
    if (range.begin > range.end || range.end > source.size())
        return bad_source(source, std::string(what) + " would be bytes " +
                                      std::to_string(range.begin) + " to " +
                                      std::to_string(range.end) + ", but the file has " +
                                      std::to_string(source.size()));
    auto bytes = allocate(source, range.end - range.begin);
    if (!bytes) return bytes;
    if (const Status status = source.read(range.begin, bytes.value()); !status)
        return status.error();
    return bytes;
}

Error bad_source(const ByteSource& source, std::string_view what) {
    return bad_input(source.name() + ": " + std::string(what));
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i > 0; --i)
        value = value << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
    return value;
}

}  // namespace mx::data
