// The layouts that mx_tensor names, as far as the host needs them: which types they hold and how
// many bytes they take. Where an element lies within those bytes is no business of this room.
#pragma once

#include <cstdint>
#include <string_view>

#include "device/host/operation.hpp"
#include "reference/base/status.hpp"

namespace mx {

// Rows and columns are rounded up to the multiples; then each row is columns * code_bits bits,
// rounded up to whole bytes. With code_bits 0 the tensor itself says how long a row is.
struct Layout {
    std::string_view name;
    int row_multiple;
    int column_multiple;
    int code_bits;
};

// nullptr for "strided", which has no row here, and for names not known.
const Layout* find_layout(std::string_view name);

bool is_strided(const TensorSpec& spec);

// Bytes of a tensor that is not strided, or what is wrong with it.
Expected<std::size_t> packed_extent(const TensorSpec& spec);

}  // namespace mx
