// Calling the device through its ABI, and doing so on every instruction set. Used by all tests of
// device/cpu; must not know the device's arithmetic.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "device/abi/mx_device.h"

namespace mx::cpu::test {

inline constexpr const char* dialect_names[] = {"ocp",          "nv",           "torchao-floor",
                                                "torchao-ceil", "torchao-even", "torchao-rceil"};
inline constexpr const char* format_names[] = {"mxfp8-e4m3", "mxfp8-e5m2"};
inline constexpr const char* value_type_names[] = {"f32", "bf16", "f16"};

inline std::string element_of(std::string_view format) {
    return std::string(format.substr(format.size() - 4));
}
std::size_t width_of(std::string_view type);

// Row-major bytes; `lead` elements lie before the first one and `gap` after each row, so that
// pointers are odd and rows are strided. Filled with a byte that a test can look for afterwards.
struct Tensor {
    std::string type;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t lead = 0;
    std::int64_t gap = 0;
    std::vector<unsigned char> bytes;

    Tensor(std::string type_name, std::int64_t row_count, std::int64_t column_count);
    Tensor(std::string type_name, std::int64_t row_count, std::int64_t column_count,
           std::int64_t lead_elements, std::int64_t row_gap);

    mx_tensor view();
    unsigned char* at(std::int64_t row, std::int64_t column);
    std::uint32_t bits(std::int64_t row, std::int64_t column);
    void set_bits(std::int64_t row, std::int64_t column, std::uint32_t value);
    void fill(const std::function<std::uint32_t()>& next);
};

struct Outcome {
    mx_status status;
    std::string reason;
};

struct Quantized {
    Tensor codes;
    Tensor scales;
};

mx_operation operation_of(const char* name, const char* format, const char* dialect,
                          const char* axis);
Outcome run(const mx_operation& operation, std::vector<mx_tensor> inputs,
            std::vector<mx_tensor> outputs);

// Calls `run` and fails the test when it refuses. Outputs have the lead and the gap of the input.
Quantized quantize(Tensor& values, const mx_operation& operation);
Tensor dequantize(Tensor& codes, Tensor& scales, const mx_operation& operation,
                  const char* value_type);

// Calls `body` once per instruction set, which it makes the one in use; then goes back to the best.
void on_every_target(const std::function<void(const std::string&)>& body);

// Random bits of a type, and of its subnormals.
std::function<std::uint32_t()> random_bits(std::uint32_t seed);
std::function<std::uint32_t()> subnormal_bits(std::uint32_t seed, std::string_view type);

inline float float_of(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
inline std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

}  // namespace mx::cpu::test
