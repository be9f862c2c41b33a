// What a call of the C ABI asks of a mutant, checked and with names turned into choices. Compiled
// once for all mutants: no bug is planted here. Knows no arithmetic.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/abi/mx_device.h"

namespace mx::mutants {

// Just enough of a floating-point format to encode and decode it.
struct Format {
    int bits;
    int mantissa_bits;
    int exponent_min;             // of the smallest normal value
    std::uint32_t code_max;       // the largest finite magnitude
    std::uint32_t code_overflow;  // Inf, or NaN where there is no Inf

    constexpr std::uint32_t magnitude_mask() const { return (1u << (bits - 1)) - 1; }
    constexpr bool has_infinity() const { return code_overflow != magnitude_mask(); }
};

inline constexpr Format e4m3{8, 3, -6, 0x7E, 0x7F};
inline constexpr Format e5m2{8, 2, -14, 0x7B, 0x7C};
inline constexpr Format f16{16, 10, -14, 0x7BFF, 0x7C00};
inline constexpr Format bf16{16, 7, -126, 0x7F7F, 0x7F80};
inline constexpr Format f32{32, 23, -126, 0x7F7FFFFF, 0x7F800000};

enum class Action { convert, encode_scale, quantize, dequantize };
enum class Dialect { ocp, nv };
enum class Axis { row, col };
enum class Overflow { saturate, overflow };

struct Cell {
    std::int64_t row;
    std::int64_t column;
};

// A strided matrix of codes, one, two or four bytes each.
struct Tensor {
    unsigned char* data = nullptr;
    Format format{};  // all zeros for e8m0, which is no format of this kind
    int bytes = 1;
    std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

    unsigned char* at(Cell cell) const {
        return data + (cell.row * row_stride + cell.column * column_stride) * bytes;
    }
    std::uint32_t read(Cell cell) const {
        std::uint32_t code = 0;
        std::memcpy(&code, at(cell), static_cast<std::size_t>(bytes));  // little-endian
        return code;
    }
    void write(Cell cell, std::uint32_t code) const {
        std::memcpy(at(cell), &code, static_cast<std::size_t>(bytes));
    }
    bool empty() const { return rows == 0 || columns == 0; }
};

struct Request {
    Action action{};
    Format element{};
    Dialect dialect = Dialect::ocp;
    Axis axis = Axis::row;
    Overflow overflow = Overflow::saturate;
    Tensor inputs[2];
    Tensor outputs[2];
};

// The arguments of `supports` and `run` as they came.
struct Call {
    const mx_operation* operation;
    const mx_tensor* inputs;
    std::size_t input_count;
    const mx_tensor* outputs;
    std::size_t output_count;
    mx_message* message;
};

// MX_OK and a filled request, or the status to return, its sentence already in call.message.
mx_status read_request(const Call& call, Request& request);
// MX_INVALID if a tensor that has elements has no data.
mx_status check_data(const Call& call);

}  // namespace mx::mutants
