// What the instructions are compared with: integers alone. In an unnamed namespace for the reason
// that measure.cuh gives.
#pragma once

#include <cstdint>

namespace mx::cuda::facts {
namespace {

struct Same {
    __device__ std::uint32_t operator()(std::uint32_t input) const { return input; }
};

struct Always {
    std::uint32_t result;
    __device__ std::uint32_t operator()(std::uint32_t) const { return result; }
};

// floor(log2 x) of a positive finite pattern, as a number of two's complement.
struct FloorLog {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        const std::uint32_t exponent = input >> 23;
        return exponent != 0 ? exponent - 127 : 31u - static_cast<unsigned>(__clz(input)) - 149;
    }
};

struct CeilLog {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        const std::uint32_t exponent = input >> 23;
        const bool is_power =
            exponent != 0 ? (input & 0x007FFFFFu) == 0 : (input & (input - 1)) == 0;
        return FloorLog{}(input) + (is_power ? 0 : 1);
    }
};

// 2^k as binary32, rounded toward zero and never NaN, for any k.
__device__ inline std::uint32_t power_of_two(int k) {
    if (k < -149) return 0;
    if (k < -126) return 1u << (k + 149);
    return k < 128 ? static_cast<std::uint32_t>(k + 127) << 23 : 0x7F800000u;
}

// The value of a scale byte below 255.
__device__ inline std::uint32_t scale_of(std::uint32_t byte) {
    return power_of_two(static_cast<int>(byte) - 127);
}

// 2^(127 - byte), but for what the inverse of both ends is claimed to be.
struct InverseOfByte {
    std::uint32_t at_0 = 0x7F000000;
    std::uint32_t at_254 = 0x00400000;
    __device__ std::uint32_t operator()(std::uint32_t byte) const {
        if (byte == 0) return at_0;
        return byte == 254 ? at_254 : power_of_two(127 - static_cast<int>(byte));
    }
};

}  // namespace
}  // namespace mx::cuda::facts
