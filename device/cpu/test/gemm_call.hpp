// A gemm called through the device table, from operands written as lists of codes. Used by
// gemm_test.cpp.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {

using Codes = std::vector<std::uint32_t>;

struct Operand {
    const char* type;
    std::int64_t rows, columns;
    Codes codes;
    const char* layout = "strided";
};

// A gemm with its operands in the order of the ABI, all dense, bytes or words as the layout wants.
struct Gemm {
    std::vector<Operand> inputs;
    Operand d;
    Operand scales_d = {};  // where D has scales of its own
    const char* dialect = nullptr;
    mx_gemm asked{sizeof(mx_gemm), 1,       0x3F800000, 0,       nullptr, nullptr,
                  nullptr,         nullptr, nullptr,    nullptr, 0};

    Codes run() {
        EXPECT_EQ(call(), MX_OK) << reason;
        return d.codes;
    }
    mx_status call();
    std::string reason = {};
};

struct Memory {
    std::vector<unsigned char> bytes;
    mx_tensor tensor;

    explicit Memory(const Operand& operand) {
        const std::size_t width = width_of(operand.type);
        for (const std::uint32_t code : operand.codes)
            for (std::size_t i = 0; i < width; ++i)
                bytes.push_back(static_cast<unsigned char>(code >> (8 * i)));
        const bool strided = std::string_view(operand.layout) == "strided";
        tensor = {sizeof(mx_tensor), bytes.data(), operand.type,    "host",
                  operand.layout,    operand.rows, operand.columns, strided ? operand.columns : 0,
                  strided ? 1 : 0};
    }
};

inline mx_status Gemm::call() {
    std::vector<Memory> memory;
    for (const Operand& input : inputs) memory.emplace_back(input);
    std::vector<mx_tensor> tensors;
    for (Memory& each : memory) {
        each.tensor.data = each.bytes.data();
        tensors.push_back(each.tensor);
    }
    d.codes.assign(static_cast<std::size_t>(d.rows * d.columns), 0x5A5A5A5A);
    Memory out(d);
    mx_operation operation{};
    operation.struct_size = sizeof operation;
    operation.name = "gemm";
    operation.gemm = &asked;
    operation.dialect = dialect;
    scales_d.codes.assign(static_cast<std::size_t>(scales_d.rows * scales_d.columns), 0x5A);
    Memory out_scales(scales_d.type == nullptr ? Operand{"e8m0", 0, 0, {}} : scales_d);
    const std::array outputs{out.tensor, out_scales.tensor};
    const std::size_t output_count = scales_d.type == nullptr ? 1 : 2;
    char text[300] = "";
    mx_message message{sizeof message, text, sizeof text};
    const mx_status status =
        mx_cpu_device_api()->run(cpu_device(), &operation, tensors.data(), tensors.size(),
                                 outputs.data(), output_count, &message);
    reason = text;
    scales_d.codes.assign(out_scales.bytes.begin(), out_scales.bytes.end());
    const std::size_t width = width_of(d.type);
    for (std::size_t i = 0; i < d.codes.size(); ++i) {
        d.codes[i] = 0;
        for (std::size_t byte = width; byte-- > 0;)
            d.codes[i] = d.codes[i] << 8 | out.bytes[i * width + byte];
    }
    return status;
}

}  // namespace mx::cpu::test
