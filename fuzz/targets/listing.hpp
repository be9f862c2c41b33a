// What must hold of every listing of a tensor file, whatever its container. Used by the fuzz
// targets; ends the process on a violation, as a fuzzer wants it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "conformance/data/tensor_listing.hpp"
#include "fuzz/targets/round_trip.hpp"

namespace mx::fuzz {

inline data::SharedSource source_of(const std::uint8_t* bytes, std::size_t size) {
    return std::make_shared<data::MemorySource>(std::as_bytes(std::span(bytes, size)), "fuzz");
}

// A tensor's size follows from its type and shape, and its bytes are there, as far as one looks: at
// both ends. A packed member may still turn out damaged, with a sentence.
inline void check_listing(const Expected<data::TensorListing>& listing) {
    if (!listing) {
        const std::string& message = listing.error().message;
        require("an error says something", !message.empty());
        require("an error is one line", message.find('\n') == message.npos);
        return;
    }
    for (const data::ListedTensor& tensor : listing.value().tensors) {
        const data::TensorType* type = data::find_tensor_type(tensor.type);
        require("a listed type is known", type != nullptr);
        const auto size = data::byte_count(*type, tensor.shape);
        require("a listed size is that of its shape", size && size.value() == tensor.size());
        require("a listed range is in its source", tensor.range.end <= tensor.source->size());
        std::array<std::byte, 64> piece;
        const auto length = std::min<std::uint64_t>(piece.size(), tensor.size());
        constexpr std::uint64_t near = 1u << 20;  // what is unpacked on the way there
        for (const std::uint64_t at : {std::uint64_t{0}, tensor.size() - length})
            if (at < near) (void)data::read_bytes(tensor, at, std::span(piece).first(length)).ok();
    }
}

}  // namespace mx::fuzz
