// A good call with its memory, which a test spoils in one place.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "device/abi/mx_device.h"

namespace mx {

inline constexpr std::uint8_t unwritten = 0xA5;

// Never copied: it points into itself. No more than eight tensors.
struct GoodCall {
    mx_operation operation{};
    mx_gemm gemm{};
    std::vector<std::vector<std::uint8_t>> bytes;
    std::vector<mx_tensor> inputs, outputs;
    std::array<char, 400> text{};  // for the sentence of its answer
    const mx_operation* asked = &operation;

    GoodCall() {
        operation.struct_size = sizeof operation;
        bytes.reserve(8);
    }
    GoodCall(const GoodCall&) = delete;
    GoodCall& operator=(const GoodCall&) = delete;

    mx_tensor tensor(const char* type, std::int64_t rows, std::int64_t columns,
                     std::uint8_t filling) {
        const std::size_t width = std::string(type) == "f32" ? 4 : 1;
        bytes.emplace_back(static_cast<std::size_t>(rows * columns) * width, filling);
        return {sizeof(mx_tensor),
                bytes.back().data(),
                type,
                "host",
                "strided",
                rows,
                columns,
                columns,
                1};
    }
    bool is_untouched() const {
        for (const mx_tensor& output : outputs)
            for (const auto& one : bytes)
                if (one.data() == output.data && one != std::vector(one.size(), unwritten))
                    return false;
        return true;
    }
};

}  // namespace mx
