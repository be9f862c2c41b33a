// Where a parser takes its bytes from: a file on disk, read piece by piece so that a large tensor
// is in memory once, or a buffer. Used by the tensor file parsers; knows no meaning of the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/base/status.hpp"

namespace mx::data {

// Half open, in bytes from the start of the source.
struct ByteRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

class ByteSource {
public:
    virtual ~ByteSource() = default;
    // As messages print it: the path the user gave.
    virtual const std::string& name() const = 0;
    virtual std::uint64_t size() const = 0;
    // Fills all of `into` from the bytes at `offset`. The caller keeps the range within size().
    virtual Status read(std::uint64_t offset, std::span<std::byte> into) const = 0;
    // False where reading backwards means to read from the start again.
    virtual bool reads_anywhere() const { return true; }
};

class MemorySource final : public ByteSource {
public:
    MemorySource(std::span<const std::byte> bytes, std::string_view name)
        : bytes_(bytes), name_(name) {}
    const std::string& name() const override { return name_; }
    std::uint64_t size() const override { return bytes_.size(); }
    Status read(std::uint64_t offset, std::span<std::byte> into) const override;

private:
    std::span<const std::byte> bytes_;
    std::string name_;
};

// A regular file; a directory, a device, a missing or unreadable file is an error.
Expected<std::unique_ptr<ByteSource>> open_file(const std::string& path);

// An error when this machine has no memory for `size` more bytes. Asked before allocating, since an
// overcommitted allocation is not refused but killed later.
Status check_memory(const ByteSource& source, std::uint64_t size);

// A new buffer, after check_memory.
Expected<std::vector<std::byte>> allocate(const ByteSource& source, std::uint64_t size);

// The bytes of a range. A range outside the source is an error that calls it `what`.
Expected<std::vector<std::byte>> read_range(const ByteSource& source, ByteRange range,
                                            std::string_view what);

// The source's bytes are wrong: "name: what".
Error bad_source(const ByteSource& source, std::string_view what);

// Little endian, from at most eight bytes.
std::uint64_t little_endian(std::span<const std::byte> bytes);

// Bytes that a reader had to put in order, or to unpack, and keeps as long as the source lives.
class KeptSource final : public ByteSource {
public:
    KeptSource(std::vector<std::byte> bytes, std::string name)
        : bytes_(std::move(bytes)), view_(bytes_, name) {}
    const std::string& name() const override { return view_.name(); }
    std::uint64_t size() const override { return view_.size(); }
    Status read(std::uint64_t offset, std::span<std::byte> into) const override {
        return view_.read(offset, into);
    }

private:
    std::vector<std::byte> bytes_;
    MemorySource view_;
};

}  // namespace mx::data
