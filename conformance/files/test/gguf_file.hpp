// GGUF files of one quantized tensor, made by hand.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/files/test/quantized_files.hpp"

namespace mx::files::test {

// Which two elements share a byte: ggml's own, j and j + 16, or those side by side.
enum class GgmlPairs { halves, neighbours };

inline std::string gguf_of_mxfp4(const Quantized& q, const std::string& name,
                                 GgmlPairs pairing = GgmlPairs::halves) {
    const auto number = data::test::little_endian_text;
    std::string file = "GGUF" + number(3, 4) + number(1, 8) + number(0, 8);
    file += number(name.size(), 8) + name + number(2, 4) +
            number(static_cast<std::uint64_t>(q.size.columns), 8) +
            number(static_cast<std::uint64_t>(q.size.rows), 8) + number(39, 4) + number(0, 8);
    file.resize((file.size() + 31) / 32 * 32, '\0');
    for (std::size_t block = 0; block < q.scales.size(); ++block) {
        file += static_cast<char>(q.scales[block]);
        const std::byte* codes = q.codes.data() + block * 32;
        for (std::size_t j = 0; j < 16; ++j) {
            const bool is_own = pairing == GgmlPairs::halves;
            const std::byte low = codes[is_own ? j : 2 * j];
            const std::byte high = codes[is_own ? j + 16 : 2 * j + 1];
            file += static_cast<char>(low | high << 4);
        }
    }
    return file;
}

// 64 elements a group: four scales, then 8 bytes for each, with elements j and j + 8 in byte j. The
// numbers are a tensor of their own.
inline std::string gguf_of_nvfp4(const Quantized& q, const std::string& name,
                                 const std::string& number_name,
                                 const std::vector<float>& numbers) {
    const auto number = data::test::little_endian_text;
    const auto columns = static_cast<std::uint64_t>(q.size.columns);
    const auto rows = static_cast<std::uint64_t>(q.size.rows);
    const std::uint64_t size = rows * columns / 64 * 36;
    std::string file = "GGUF" + number(3, 4) + number(2, 8) + number(0, 8);
    file += number(name.size(), 8) + name + number(2, 4) + number(columns, 8) + number(rows, 8) +
            number(40, 4) + number(0, 8);
    file += number(number_name.size(), 8) + number_name + number(1, 4) + number(numbers.size(), 8) +
            number(0, 4) + number((size + 31) / 32 * 32, 8);
    file.resize((file.size() + 31) / 32 * 32, '\0');
    const std::size_t begin = file.size();
    for (std::size_t group = 0; group < q.scales.size() / 4; ++group) {
        for (std::size_t s = 0; s < 4; ++s) file += static_cast<char>(q.scales[4 * group + s]);
        for (std::size_t j = 0; j < 32; ++j) {
            const std::byte* codes = q.codes.data() + group * 64 + j / 8 * 16;
            file += static_cast<char>(codes[j % 8] | codes[j % 8 + 8] << 4);
        }
    }
    file.resize(begin + (size + 31) / 32 * 32, '\0');
    for (const float each : numbers)
        for (const std::byte b : bytes_of(each)) file += static_cast<char>(b);
    return file;
}

}  // namespace mx::files::test
