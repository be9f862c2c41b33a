// Uses the installed oracle at compile time and at run time. Built by consumer_test from the
// package alone; prints nothing and exits with 1 when a value is wrong.
#include <cstdint>

#include "reference/fast/round.hpp"
#include "reference/fast/self_check.hpp"

namespace {

constexpr mx::Code e4m3_of_binary32(std::uint32_t bits) {
    return mx::fast::round(mx::formats::e4m3, mx::Rounding::nearest_even, mx::Overflow::saturate,
                           mx::fast::unpack(mx::formats::f32, mx::Code{bits}));
}

static_assert(e4m3_of_binary32(0x3FE00000).bits == 0x3E);  // 1.75

}  // namespace

int main(int argument_count, char**) {
    if (!mx::fast::self_check().empty()) return 1;
    // Not a constant for the compiler: 2^k for k = number of arguments, program name included.
    const auto power = static_cast<std::uint32_t>(127 + argument_count) << 23;
    const auto expected = 0x38u + 8u * static_cast<unsigned>(argument_count);
    return e4m3_of_binary32(power).bits == expected ? 0 : 1;
}
