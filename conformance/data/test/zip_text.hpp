// ZIP archives made by hand, for the tests of what reads them. Knows nothing of the reader.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/data/test/file_bytes.hpp"

namespace mx::data::test {

struct ZipText {
    enum class Method { stored, deflated };
    std::string name;
    std::string bytes;
    Method method = Method::stored;
    std::optional<std::uint64_t> claimed = {};  // the unpacked size, where it shall lie
};

inline std::string deflated_text(const std::string& bytes) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string packed(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

inline std::string zip_text(const std::vector<ZipText>& members) {
    const auto number = little_endian_text;
    std::string file, directory;
    for (const ZipText& member : members) {
        const bool packs = member.method == ZipText::Method::deflated;
        const std::string packed = packs ? deflated_text(member.bytes) : member.bytes;
        const std::string common = number(20, 2) + number(0, 2) + number(packs ? 8 : 0, 2) +
                                   number(0, 4) + number(0, 4) + number(packed.size(), 4) +
                                   number(member.claimed.value_or(member.bytes.size()), 4) +
                                   number(member.name.size(), 2) + number(0, 2);
        directory += "PK\1\2" + number(20, 2) + common + number(0, 2) + number(0, 2) +
                     number(0, 2) + number(0, 4) + number(file.size(), 4) + member.name;
        file += "PK\3\4" + common + member.name + packed;
    }
    const std::string count = number(members.size(), 2);
    return file + directory + "PK\5\6" + number(0, 4) + count + count +
           number(directory.size(), 4) + number(file.size(), 4) + number(0, 2);
}

}  // namespace mx::data::test
