// See zip_file.hpp. APPNOTE.TXT of PKWARE, sections 4.3 and 4.5, says where each field lies.
#include "conformance/data/zip_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "conformance/data/host_tensor.hpp"

namespace mx::data {
namespace {

using Archive = std::shared_ptr<const ByteSource>;

constexpr std::uint64_t end_size = 22, end_signature = 0x06054b50;
constexpr std::uint64_t locator_size = 20, locator_signature = 0x07064b50;
constexpr std::uint64_t end64_size = 56, end64_signature = 0x06064b50;
constexpr std::uint64_t entry_size = 46, entry_signature = 0x02014b50;
constexpr std::uint64_t local_size = 30, local_signature = 0x04034b50;
constexpr std::uint64_t comment_max = 0xFFFF;
constexpr std::uint64_t directory_max = std::uint64_t{1} << 28;
constexpr std::uint64_t escape16 = 0xFFFF, escape32 = 0xFFFFFFFF;  // "see the 64-bit field"
constexpr std::uint64_t method_stored = 0, method_deflated = 8;
// No stream of deflate grows by more: 258 bytes from two bits (RFC 1951, section 3.2.5).
constexpr std::uint64_t deflate_growth_max = 1032;

std::uint64_t zip_field(std::span<const std::byte> bytes, std::size_t at, std::size_t width) {
    return little_endian(bytes.subspan(at, width));
}

// A part of another source.
class PartSource final : public ByteSource {
public:
    PartSource(Archive whole, ByteRange range, std::string name)
        : whole_(std::move(whole)), range_(range), name_(std::move(name)) {}
    const std::string& name() const override { return name_; }
    std::uint64_t size() const override { return range_.end - range_.begin; }
    Status read(std::uint64_t offset, std::span<std::byte> into) const override {
        return whole_->read(range_.begin + offset, into);
    }

private:
    Archive whole_;
    ByteRange range_;
    std::string name_;
};

// A raw deflate stream read forwards; another place is reached by unpacking up to it.
class InflatedSource final : public ByteSource {
public:
    InflatedSource(std::unique_ptr<ByteSource> packed, std::uint64_t size)
        : packed_(std::move(packed)), size_(size) {}
    InflatedSource(const InflatedSource&) = delete;
    InflatedSource& operator=(const InflatedSource&) = delete;
    ~InflatedSource() override { close(); }

    const std::string& name() const override { return packed_->name(); }
    std::uint64_t size() const override { return size_; }
    bool reads_anywhere() const override { return false; }

    Status read(std::uint64_t offset, std::span<std::byte> into) const override {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!is_open_ || offset < position_)
            if (const Status opened = open(); !opened) return opened;
        std::array<std::byte, 4096> passed_over;
        while (position_ < offset) {
            const auto length = std::min<std::uint64_t>(offset - position_, passed_over.size());
            if (const Status s = unpack(std::span(passed_over).first(length)); !s) return s;
        }
        return unpack(into);
    }

private:
    Status open() const {
        close();
        stream_ = {};
        position_ = taken_ = 0;
        // Negative: a raw stream without zlib's own header.
        if (::inflateInit2(&stream_, -MAX_WBITS) != Z_OK)
            return Error{ErrorKind::system, name() + ": no memory to unpack it"};
        is_open_ = true;
        return success();
    }

    void close() const {
        if (is_open_) ::inflateEnd(&stream_);
        is_open_ = false;
    }

    Status refill() const {
        const auto length = std::min<std::uint64_t>(packed_->size() - taken_, input_.size());
        if (length == 0)
            return bad_source(*packed_, "its packed bytes end after " + std::to_string(position_) +
                                            " of " + std::to_string(size_) + " unpacked ones");
        if (const Status s = packed_->read(taken_, std::span(input_).first(length)); !s) return s;
        taken_ += length;
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(length);
        return success();
    }

    Status unpack(std::span<std::byte> into) const {
        while (!into.empty()) {
            if (stream_.avail_in == 0)
                if (const Status s = refill(); !s) return s;
            const std::size_t piece = std::min<std::size_t>(into.size(), 1u << 30);
            stream_.next_out = reinterpret_cast<Bytef*>(into.data());
            stream_.avail_out = static_cast<uInt>(piece);
            const int result = ::inflate(&stream_, Z_NO_FLUSH);
            const std::size_t got = piece - stream_.avail_out;
            position_ += got;
            into = into.subspan(got);
            if (result == Z_STREAM_END && !into.empty())
                return bad_source(*packed_, "unpacks to " + std::to_string(position_) +
                                                " bytes, but the archive says " +
                                                std::to_string(size_));
            if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
                return bad_source(*packed_, "its packed bytes are damaged after " +
                                                std::to_string(position_) + " unpacked ones");
        }
        return success();
    }

    std::unique_ptr<ByteSource> packed_;
    std::uint64_t size_;
    mutable std::mutex mutex_;
    mutable z_stream stream_ = {};
    mutable bool is_open_ = false;
    mutable std::uint64_t position_ = 0, taken_ = 0;
    mutable std::array<std::byte, 1u << 16> input_ = {};
};

struct ZipDirectory {
    std::uint64_t entries = 0;
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
};

// The record at the end, behind which a comment may stand.
Expected<std::uint64_t> find_end(const ByteSource& archive) {
    const std::uint64_t tail = std::min(archive.size(), end_size + comment_max);
    const auto bytes = read_range(archive, {archive.size() - tail, archive.size()}, "its end");
    if (!bytes) return bytes.error();
    for (std::uint64_t back = end_size; back <= tail; ++back) {
        const std::span<const std::byte> record(bytes.value().data() + tail - back, end_size);
        if (zip_field(record, 0, 4) == end_signature && zip_field(record, 20, 2) == back - end_size)
            return archive.size() - back;
    }
    return bad_source(archive, "is no ZIP archive, or was cut: it has no directory at its end");
}

// The 64-bit record, where the small fields are full.
Expected<ZipDirectory> read_end64(const ByteSource& archive, std::uint64_t end) {
    const auto damaged = bad_source(archive, "its 64-bit ZIP directory is damaged");
    if (end < locator_size) return damaged;
    const auto locator = read_range(archive, {end - locator_size, end}, "the ZIP64 locator");
    if (!locator) return locator.error();
    if (zip_field(locator.value(), 0, 4) != locator_signature) return damaged;
    const std::uint64_t at = zip_field(locator.value(), 8, 8);
    if (at > end || end - at < end64_size) return damaged;
    const auto record = read_range(archive, {at, at + end64_size}, "the ZIP64 record");
    if (!record) return record.error();
    if (zip_field(record.value(), 0, 4) != end64_signature) return damaged;
    return ZipDirectory{zip_field(record.value(), 32, 8), zip_field(record.value(), 48, 8),
                        zip_field(record.value(), 40, 8)};
}

Expected<ZipDirectory> find_directory(const ByteSource& archive) {
    const auto end = find_end(archive);
    if (!end) return end.error();
    const auto record = read_range(archive, {end.value(), end.value() + end_size}, "its end");
    if (!record) return record.error();
    const std::span<const std::byte> bytes = record.value();
    if (zip_field(bytes, 4, 2) != zip_field(bytes, 6, 2) && zip_field(bytes, 4, 2) != escape16)
        return bad_source(archive, "is one part of a ZIP archive in several");
    const ZipDirectory small{zip_field(bytes, 10, 2), zip_field(bytes, 16, 4),
                             zip_field(bytes, 12, 4)};
    if (small.entries == escape16 || small.begin == escape32 || small.size == escape32)
        return read_end64(archive, end.value());
    return small;
}

struct ZipEntry {
    std::string name;
    std::uint64_t flags = 0, method = 0, packed = 0, unpacked = 0, local = 0;
};

// The extra field of header 1 holds, in this order, those that did not fit 32 bits.
bool take_wide_fields(std::span<const std::byte> extra, ZipEntry& entry) {
    for (std::size_t at = 0; at + 4 <= extra.size();) {
        const std::size_t length = zip_field(extra, at + 2, 2);
        if (at + 4 + length > extra.size()) return false;
        if (zip_field(extra, at, 2) == 1) {
            std::size_t next = at + 4;
            const std::size_t end = next + length;
            for (std::uint64_t* value : {&entry.unpacked, &entry.packed, &entry.local}) {
                if (*value != escape32) continue;
                if (next + 8 > end) return false;
                *value = zip_field(extra, next, 8);
                next += 8;
            }
            return true;
        }
        at += 4 + length;
    }
    return entry.unpacked != escape32 && entry.packed != escape32 && entry.local != escape32;
}

// The entry at `at` of the directory, and where the next one begins.
std::optional<ZipEntry> read_zip_entry(std::span<const std::byte> directory, std::size_t& at) {
    if (directory.size() - at < entry_size) return std::nullopt;
    const auto bytes = directory.subspan(at);
    const std::size_t name = zip_field(bytes, 28, 2), extra = zip_field(bytes, 30, 2);
    const std::size_t whole = entry_size + name + extra + zip_field(bytes, 32, 2);
    if (zip_field(bytes, 0, 4) != entry_signature || bytes.size() < whole) return std::nullopt;
    ZipEntry entry{{},
                   zip_field(bytes, 8, 2),
                   zip_field(bytes, 10, 2),
                   zip_field(bytes, 20, 4),
                   zip_field(bytes, 24, 4),
                   zip_field(bytes, 42, 4)};
    for (const std::byte b : bytes.subspan(entry_size, name))
        entry.name += static_cast<char>(std::to_integer<unsigned char>(b));
    if (!take_wide_fields(bytes.subspan(entry_size + name, extra), entry)) return std::nullopt;
    at += whole;
    return entry;
}

// Where the member's packed bytes lie: behind a header of its own, whose name and extra field may
// have other lengths than the directory's.
Expected<ByteRange> packed_range(const ByteSource& archive, const ZipEntry& entry) {
    const std::string who = "member " + in_quotes(entry.name);
    if (entry.local > archive.size() || archive.size() - entry.local < local_size)
        return bad_source(archive, who + " would begin behind the end of the archive");
    const auto header = read_range(archive, {entry.local, entry.local + local_size}, who);
    if (!header) return header.error();
    if (zip_field(header.value(), 0, 4) != local_signature)
        return bad_source(archive, who + " has no header at byte " + std::to_string(entry.local));
    const std::uint64_t begin = entry.local + local_size + zip_field(header.value(), 26, 2) +
                                zip_field(header.value(), 28, 2);
    if (begin > archive.size() || archive.size() - begin < entry.packed)
        return bad_source(archive, who + " has " + std::to_string(entry.packed) +
                                       " bytes from byte " + std::to_string(begin) +
                                       " on, which are not in the archive");
    return ByteRange{begin, begin + entry.packed};
}

Expected<ZipMember> open_member(const Archive& archive, const ZipEntry& entry) {
    const std::string who = "member " + in_quotes(entry.name);
    if ((entry.flags & 1) != 0) return bad_source(*archive, who + " is encrypted");
    if (entry.method != method_stored && entry.method != method_deflated)
        return bad_source(*archive, who + " is packed by method " + std::to_string(entry.method) +
                                        "; known: 0 (stored), 8 (deflate)");
    const auto range = packed_range(*archive, entry);
    if (!range) return range.error();
    const bool fits = entry.method == method_stored
                          ? entry.packed == entry.unpacked
                          : entry.unpacked / deflate_growth_max <= entry.packed;
    if (!fits)
        return bad_source(*archive, who + " says that it unpacks to " +
                                        std::to_string(entry.unpacked) + " bytes, which " +
                                        std::to_string(entry.packed) + " packed ones cannot be");
    auto part = std::make_unique<PartSource>(archive, range.value(),
                                             archive->name() + ": " + in_quotes(entry.name));
    if (entry.method == method_stored) return ZipMember{entry.name, std::move(part)};
    return ZipMember{entry.name, std::make_shared<InflatedSource>(std::move(part), entry.unpacked)};
}

}  // namespace

Expected<std::vector<ZipMember>> list_zip(const Archive& archive) {
    const auto place = find_directory(*archive);
    if (!place) return place.error();
    const auto [entries, begin, size] = place.value();
    const std::uint64_t whole = archive->size();
    if (begin > whole || whole - begin < size || size > directory_max)
        return bad_source(*archive, "its ZIP directory would be " + std::to_string(size) +
                                        " bytes from byte " + std::to_string(begin) + " on");
    const auto directory = read_range(*archive, {begin, begin + size}, "the ZIP directory");
    if (!directory) return directory.error();
    std::vector<ZipMember> members;
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < entries; ++i) {
        const auto entry = read_zip_entry(directory.value(), at);
        if (!entry)
            return bad_source(*archive, "its ZIP directory is damaged at entry " +
                                            std::to_string(i) + " of " + std::to_string(entries));
        if (entry->name.ends_with('/')) continue;  // a folder
        auto member = open_member(archive, *entry);
        if (!member) return member.error();
        members.push_back(std::move(member).value());
    }
    return members;
}

}  // namespace mx::data
