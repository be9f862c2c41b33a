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
inline constexpr const char* format_names[] = {"mxfp8-e4m3",      "mxfp8-e5m2", "mxfp6-e3m2",
                                               "mxfp6-e2m3",      "mxfp4-e2m1", "mxint8",
                                               "mxint8-symmetric"};
inline constexpr const char* value_type_names[] = {"f32", "bf16", "f16"};

// "mxfp6-e3m2" is made of "e3m2", "mxint8-symmetric" of "int8-symmetric".
inline std::string element_of(std::string_view format) {
    const bool integer = format.starts_with("mxint8");
    return std::string(format.substr(integer ? 2 : format.find('-') + 1));
}
inline bool quantizes(std::string_view dialect, std::string_view format) {
    return !dialect.starts_with("torchao") || !format.starts_with("mxint8");
}
std::size_t width_of(std::string_view type);

// An element format as the tests know it, written apart from the device's table.
struct ElementFacts {
    const char* name;
    int mantissa_bits;
    int bias;
    unsigned code_max;
    unsigned code_max_negative;  // as a magnitude
    unsigned overflow;           // Inf, or NaN where there is no Inf, or code_max
    unsigned nan;
    unsigned sign;
};
inline constexpr ElementFacts element_facts[] = {
    {"e4m3", 3, 7, 0x7E, 0x7E, 0x7F, 0x7F, 0x80},
    {"e5m2", 2, 15, 0x7B, 0x7B, 0x7C, 0x7F, 0x80},
    {"e3m2", 2, 3, 0x1F, 0x1F, 0x1F, 0x1F, 0x20},
    {"e2m3", 3, 1, 0x1F, 0x1F, 0x1F, 0x1F, 0x20},
    {"e2m1", 1, 1, 0x07, 0x07, 0x07, 0x07, 0x08},
    {"int8", 7, 0, 0x7F, 0x80, 0x7F, 0x7F, 0x80},
    {"int8-symmetric", 7, 0, 0x7F, 0x7F, 0x7F, 0x7F, 0x80},
};
const ElementFacts& facts_of(std::string_view element);
inline bool is_integer(const ElementFacts& facts) {
    return std::string_view(facts.name).starts_with("int8");
}
// The value of a magnitude code, special ones read as if they were numbers; and of a whole code.
double magnitude_value(const ElementFacts& facts, unsigned magnitude_code);
double element_value(const ElementFacts& facts, unsigned code);
unsigned code_of(const ElementFacts& facts, unsigned magnitude_code, double sign_of);

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

// The device, opened once for all tests.
void* cpu_device();

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
