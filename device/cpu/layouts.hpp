// Tensors whose bytes are not strided: codes of less than a byte, scales in tiles, scales between
// the codes. The arithmetic sees dense copies with a byte a code. Used by the ABI glue.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "device/abi/mx_device.h"

namespace mx::cpu {

enum class LayoutKind { strided, codes, scales, inline_scales };

// A scale in the words of mx_device.h, and the padded length of y's dimension.
struct TileCell {
    std::int64_t x;
    std::int64_t y;
    std::int64_t inner;
};

// One of the layouts of mx_device.h.
struct Layout {
    std::string_view name;
    LayoutKind kind;
    int code_bits;                           // of codes
    int odd_first;                           // 1: the odd code of a pair lies in the low bits
    std::int64_t outer_tile;                 // of scales, x in the words of mx_device.h
    std::int64_t inner_tile;                 // y
    std::string_view axis;                   // the blocks it is for
    std::int64_t (*place)(const TileCell&);  // nullptr: row-major over the padded grid
    int zero_pads;                           // 1: pads are written as 0
};

std::optional<Layout> find_layout(std::string_view name);

// False when its bytes are more than an address space has.
bool fits_address_space(const Layout& layout, const mx_tensor& tensor);

// A tensor in such a layout with its dense copy: row-major, a byte a code.
struct Staged {
    Layout layout;
    mx_tensor tensor;
    std::int64_t block_size;  // of inline scales
    int code_bits;
    std::vector<std::uint8_t> dense;
    std::vector<std::uint8_t> dense_scales;  // of inline scales, one row of blocks after another
};

void unpack(Staged& staged);      // from the tensor to the copy
void pack(const Staged& staged);  // and back

}  // namespace mx::cpu
