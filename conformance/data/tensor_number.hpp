// The numbers of a whole tensor as the fast oracle takes them, from the one that a problem is
// given. Used by the families and by the expected bits.
#pragma once

#include <cstdint>

#include "reference/fast/real_scale.hpp"
#include "reference/problem/problem.hpp"

namespace mx {

// Of a problem that quantizes. `given` is the tensor's amax, or under a history its scale.
inline fast::TensorNumbers numbers_of(const Problem& p, std::uint32_t given) {
    const fast::Unpacked number = fast::unpack(formats::f32, Code{given});
    return fast::tensor_numbers(*p.dialect, *p.format, number, number);
}

}  // namespace mx
