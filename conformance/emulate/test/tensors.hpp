// Small tensors and names that the tests of quantized files share.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "conformance/emulate/requantize.hpp"

namespace mx::emulate::test {

using Shape = std::vector<std::int64_t>;

inline data::HostTensor f32_tensor(const Shape& shape, const std::vector<float>& values) {
    data::HostTensor tensor{"x", "f32", shape, {}};
    for (const float value : values) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
        for (int shift = 0; shift < 32; shift += 8)
            tensor.bytes.push_back(std::byte((bits >> shift) & 0xff));
    }
    return tensor;
}

// Powers of two of both signs, no further apart than e2m1 reaches under one scale: every format
// gives them back as they were.
inline data::HostTensor powers_of_two(const Shape& shape) {
    std::size_t count = 1;
    for (const std::int64_t length : shape) count *= static_cast<std::size_t>(length);
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>(1 << (i * 7 / 3 % 3)) * (i % 3 == 0 ? -1.0f : 1.0f));
    return f32_tensor(shape, values);
}

inline BlockNames names_of(const std::string& format, const std::string& dialect = "",
                           const std::string& axis = "") {
    return completed({format, dialect, axis, "", "", ""});
}

inline std::vector<int> bytes_of(const data::HostTensor& tensor) {
    std::vector<int> bytes;
    for (const std::byte byte : tensor.bytes) bytes.push_back(std::to_integer<int>(byte));
    return bytes;
}

inline QuantizedTensor quantized(const data::HostTensor& tensor, const BlockNames& names) {
    auto result = quantize_tensor(tensor, names, {.program_version = "9.9.9"});
    EXPECT_TRUE(result.ok()) << result.error().message;
    return std::move(result).value();
}

template <typename T>
std::string error_of(const Expected<T>& result) {
    return result.ok() ? "no error" : result.error().message;
}

}  // namespace mx::emulate::test
