// See npz_writer.hpp. The fields of a ZIP archive are those of PKWARE's APPNOTE, sections 4.3.7,
// 4.3.12 and 4.3.16.
#include "conformance/data/npz_writer.hpp"

#include <zlib.h>

#include <span>

#include "conformance/data/npy.hpp"

namespace mx::data {
namespace {

std::uint32_t crc_after(std::uint32_t crc, std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(
        crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Little-endian fields of two and four bytes.
class Fields {
public:
    Fields& two(std::uint32_t value) {
        text_ += static_cast<char>(value & 0xFF);
        text_ += static_cast<char>(value >> 8 & 0xFF);
        return *this;
    }
    Fields& four(std::uint32_t value) { return two(value & 0xFFFF).two(value >> 16); }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

constexpr std::uint32_t version = 20;            // 2.0, the first with folders
constexpr std::uint32_t first_of_1980 = 0x0021;  // the earliest date that there is

// What the header of an array and its line in the directory have in common.
Fields& describe(Fields& fields, std::uint32_t crc, std::uint32_t size, std::size_t name_size) {
    fields.two(version).two(0).two(0);  // no flag; stored
    fields.two(0).two(first_of_1980);
    fields.four(crc).four(size).four(size);
    return fields.two(static_cast<std::uint32_t>(name_size)).two(0);
}

}  // namespace

void NpzWriter::put(const std::string& bytes) {
    to_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    written_ += bytes.size();
}

Status NpzWriter::add(const HostTensor& tensor) {
    const auto file = encode_npy({{tensor}, {}});
    if (!file) return file.error();
    const std::string name = tensor.name + ".npy";
    const std::string& header = file.value().header;
    const std::uint64_t size = header.size() + tensor.bytes.size();
    constexpr std::uint64_t directory_room = std::uint64_t{1} << 24;  // for all of its lines
    if (entries_.size() == arrays_max || written_ + size + directory_room > size_max)
        return bad_input("array " + in_quotes(tensor.name) +
                         ": an .npz holds 65,535 arrays and 4 GiB at most; write it in parts");
    const std::uint32_t crc =
        crc_after(crc_after(0, std::as_bytes(std::span(header))), tensor.bytes);
    entries_.push_back(
        {name, crc, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(written_)});
    Fields fields;
    fields.four(0x04034B50);
    put(describe(fields, crc, entries_.back().size, name.size()).text());
    put(name);
    put(header);
    to_.write(reinterpret_cast<const char*>(tensor.bytes.data()),
              static_cast<std::streamsize>(tensor.bytes.size()));
    written_ += tensor.bytes.size();
    return success();
}

void NpzWriter::finish() {
    const auto begin = static_cast<std::uint32_t>(written_);
    for (const Entry& entry : entries_) {
        Fields fields;
        fields.four(0x02014B50).two(version);
        describe(fields, entry.crc, entry.size, entry.name.size());
        fields.two(0).two(0).two(0).four(0).four(entry.offset);
        put(fields.text());
        put(entry.name);
    }
    const auto count = static_cast<std::uint32_t>(entries_.size());
    Fields end;
    end.four(0x06054B50).two(0).two(0).two(count).two(count);
    put(end.four(static_cast<std::uint32_t>(written_) - begin).four(begin).two(0).text());
}

}  // namespace mx::data
