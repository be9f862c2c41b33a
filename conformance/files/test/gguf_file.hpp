// A GGUF file of one MXFP4 tensor, made by hand.
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

}  // namespace mx::files::test
