// fixture.hpp.
#include "device/cpu/test/fixture.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "device/abi/block_operation.hpp"
#include "device/cpu/cpu_device.hpp"

namespace mx::cpu::test {

const ElementFacts& facts_of(std::string_view element) {
    for (const ElementFacts& facts : element_facts)
        if (facts.name == element) return facts;
    ADD_FAILURE() << "no element " << element;
    return element_facts[0];
}

double magnitude_value(const ElementFacts& facts, unsigned magnitude_code) {
    if (is_integer(facts)) return magnitude_code / 64.0;
    const int field = static_cast<int>(magnitude_code >> facts.mantissa_bits);
    const unsigned mantissa = magnitude_code & ((1u << facts.mantissa_bits) - 1);
    const double fraction = std::ldexp(mantissa, -facts.mantissa_bits);
    return field == 0 ? std::ldexp(fraction, 1 - facts.bias)
                      : std::ldexp(1 + fraction, field - facts.bias);
}

double element_value(const ElementFacts& facts, unsigned code) {
    if (is_integer(facts)) return static_cast<std::int8_t>(code) / 64.0;
    const double magnitude = magnitude_value(facts, code & (facts.sign - 1));
    return (code & facts.sign) != 0 ? -magnitude : magnitude;
}

unsigned code_of(const ElementFacts& facts, unsigned magnitude_code, double sign_of) {
    if (!std::signbit(sign_of)) return magnitude_code;
    return is_integer(facts) ? (0u - magnitude_code) & 0xFF : magnitude_code | facts.sign;
}

std::size_t width_of(std::string_view type) {
    if (type == "f32" || type == "u32" || type == "i32") return 4;
    return type == "bf16" || type == "f16" ? 2 : 1;
}

Tensor::Tensor(std::string type_name, std::int64_t row_count, std::int64_t column_count)
    : Tensor(std::move(type_name), row_count, column_count, 0, 0) {}

Tensor::Tensor(std::string type_name, std::int64_t row_count, std::int64_t column_count,
               std::int64_t lead_elements, std::int64_t row_gap)
    : type(std::move(type_name)),
      rows(row_count),
      columns(column_count),
      lead(lead_elements),
      gap(row_gap) {
    const std::int64_t elements = lead + rows * (columns + gap) + 64;
    bytes.assign(static_cast<std::size_t>(elements) * test::width_of(type), 0xA5);
}

mx_tensor Tensor::view() {
    return {sizeof(mx_tensor), at(0, 0), type.c_str(), "host", "strided", rows, columns,
            columns + gap,     1};
}

unsigned char* Tensor::at(std::int64_t row, std::int64_t column) {
    const std::int64_t element = lead + row * (columns + gap) + column;
    return bytes.data() + static_cast<std::size_t>(element) * test::width_of(type);
}

std::uint32_t Tensor::bits(std::int64_t row, std::int64_t column) {
    std::uint32_t value = 0;
    std::memcpy(&value, at(row, column), test::width_of(type));
    return value;
}

void Tensor::set_bits(std::int64_t row, std::int64_t column, std::uint32_t value) {
    std::memcpy(at(row, column), &value, test::width_of(type));
}

void Tensor::fill(const std::function<std::uint32_t()>& next) {
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column) set_bits(row, column, next());
}

void* cpu_device() {
    static void* const device = [] {
        void* handle = nullptr;
        EXPECT_EQ(mx_cpu_device_api()->open(&handle, nullptr), MX_OK);
        return handle;
    }();
    return device;
}

mx_operation operation_of(const char* name, const char* format, const char* dialect,
                          const char* axis) {
    return block_operation(name, format, dialect, axis);
}

Outcome run(const mx_operation& operation, std::vector<mx_tensor> inputs,
            std::vector<mx_tensor> outputs) {
    char text[200] = "";
    mx_message message{sizeof(mx_message), text, sizeof text};
    const mx_status status =
        mx_cpu_device_api()->run(cpu_device(), &operation, inputs.data(), inputs.size(),
                                 outputs.data(), outputs.size(), &message);
    return {status, text};
}

Quantized quantize(Tensor& values, const mx_operation& operation) {
    const bool row = std::string_view(operation.axis) == "row";
    const bool column = std::string_view(operation.axis) == "col";
    const std::int64_t size = operation.block_size;
    const std::int64_t scale_rows = row ? values.rows : (values.rows + size - 1) / size;
    const std::int64_t scale_columns = column ? values.columns : (values.columns + size - 1) / size;
    Quantized out{
        Tensor(element_of(operation.format), values.rows, values.columns, values.lead, values.gap),
        Tensor("e8m0", scale_rows, scale_columns, values.lead, values.gap)};
    const Outcome outcome = run(operation, {values.view()}, {out.codes.view(), out.scales.view()});
    EXPECT_EQ(outcome.status, MX_OK) << outcome.reason;
    return out;
}

Tensor dequantize(Tensor& codes, Tensor& scales, const mx_operation& operation,
                  const char* value_type) {
    Tensor values(value_type, codes.rows, codes.columns, codes.lead, codes.gap);
    const Outcome outcome = run(operation, {codes.view(), scales.view()}, {values.view()});
    EXPECT_EQ(outcome.status, MX_OK) << outcome.reason;
    return values;
}

void on_every_target(const std::function<void(const std::string&)>& body) {
    for (const std::string_view target : cpu_targets()) {
        ASSERT_TRUE(set_cpu_target(target)) << target;
        ASSERT_EQ(cpu_target(), target);
        body(std::string(target));
    }
    set_cpu_target("best");
}

std::function<std::uint32_t()> random_bits(std::uint32_t seed) {
    return [engine = std::mt19937(seed)]() mutable { return static_cast<std::uint32_t>(engine()); };
}

std::function<std::uint32_t()> subnormal_bits(std::uint32_t seed, std::string_view type) {
    const std::uint32_t mask = type == "f32" ? 0x807FFFFFu : type == "bf16" ? 0x807Fu : 0x83FFu;
    return [next = random_bits(seed), mask]() { return next() & mask; };
}

}  // namespace mx::cpu::test
