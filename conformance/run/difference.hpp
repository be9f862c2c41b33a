// Where the device's bits are not the expected ones, one place at a time.
#pragma once

#include <cstdint>
#include <functional>

#include "conformance/run/evidence.hpp"

namespace mx {

struct Difference {
    std::size_t output = 0;   // 0: elements or values, 1: scales, 2: the tensor's number
    std::size_t element = 0;  // row-major
    std::uint32_t expected = 0;
    std::uint32_t actual = 0;
    std::uint8_t flags = 0;  // see question.hpp
};

// Calls `visit` for every difference, scales before elements, both in row-major order. Bit for bit;
// only where the dialect says that any NaN value will do (dequantized output) do two NaN agree.
void for_each_difference(const Evidence& evidence,
                         const std::function<void(const Difference&)>& visit);

// True when the data could not have failed: many elements, all of them expected to be one and the
// same code under one and the same scale, in data that nobody designed to be so.
bool has_insufficient_data(const Evidence& evidence);

}  // namespace mx
