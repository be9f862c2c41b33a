// What must hold of every parsed tensor file. Used by the fuzz targets and the properties; ends the
// process on a violation, as a fuzzer wants it, and knows no file format.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "conformance/data/host_tensor.hpp"

namespace mx::fuzz {

inline void require(std::string_view what, int holds) {
    if (holds != 0) return;
    std::fprintf(stderr, "violated: %.*s\n", static_cast<int>(what.size()), what.data());
    std::abort();
}

inline std::vector<std::byte> in_one_piece(const data::EncodedFile& encoded) {
    const auto header = std::as_bytes(std::span(encoded.header));
    std::vector<std::byte> bytes(header.begin(), header.end());
    for (const auto part : encoded.payload) bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
}

// The writers may put tensors in another order, and do not keep the name a .npy has from its path.
inline void sort_by_name(data::TensorFile& file) {
    std::sort(file.tensors.begin(), file.tensors.end(),
              [](const auto& left, const auto& right) { return left.name < right.name; });
}

template <typename Parse, typename Encode>
void check_round_trip(Expected<data::TensorFile> file, const Parse& parse, const Encode& encode) {
    if (!file) {
        const std::string& message = file.error().message;
        require("an error says something", !message.empty());
        require("an error is one line", message.find('\n') == message.npos);
        return;
    }
    for (const data::HostTensor& tensor : file.value().tensors)
        require("what was parsed is sound", data::check_tensor(tensor).ok());
    const auto encoded = encode(file.value());
    require("what was parsed can be written", encoded.ok());
    auto again = parse(in_one_piece(encoded.value()));
    require("what was written can be parsed", again.ok());
    sort_by_name(file.value());
    sort_by_name(again.value());
    require("nothing was changed", again.value() == file.value());
}

}  // namespace mx::fuzz
