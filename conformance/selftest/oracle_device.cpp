// See oracle_device.hpp.
#include "conformance/selftest/oracle_device.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "conformance/selftest/plain_call.hpp"
#include "reference/fast/block.hpp"

namespace mx::selftest {
namespace {

template <typename Function>
void map_cells(const Request& request, const Function& function) {
    const View& input = request.inputs[0];
    for (std::int64_t row = 0; row < input.rows; ++row)
        for (std::int64_t column = 0; column < input.columns; ++column) {
            const Cell cell{row, column};
            const fast::Unpacked value =
                fast::read_input(request.rules.subnormals, request.values, Code{input.read(cell)});
            request.outputs[0].write(cell, function(value, cell).bits);
        }
}

// The word of four values serves the first two with its low half, the others with its high half.
RandomBits random_bits(const Request& request, Cell cell) {
    const auto [bits, values_per_word] = request.random;
    if (bits == 0) return {};
    const std::uint32_t word = request.inputs[1].read({cell.row, cell.column / values_per_word});
    if (values_per_word == 4) return {cell.column % 4 < 2 ? word & 0xFFFF : word >> 16, bits};
    return {word & (0xFFFFFFFF >> (32 - bits)), bits};
}

void convert(const Request& request) {
    map_cells(request, [&](const fast::Unpacked& value, Cell cell) {
        if (request.casts_to_scale()) return fast::cast_to_scale(request.rules.scale_cast, value);
        return fast::round_element(request.rules, request.element, value,
                                   random_bits(request, cell));
    });
}

void encode_scales(const Request& request) {
    map_cells(request, [&](const fast::Unpacked& value, Cell) {
        return fast::encode_scale(request.rules, request.format, value);
    });
}

// Rows and columns of a whole block.
Cell block_shape(const Request& request) {
    return {request.axis == Axis::row ? 1 : request.block,
            request.axis == Axis::col ? 1 : request.block};
}

// The cells of the block whose scale lies at `scale`, as far as the tensor has them.
std::vector<Cell> cells_of(const Request& request, Cell scale) {
    const auto [rows, columns] = block_shape(request);
    const View& whole = request.inputs[0];
    std::vector<Cell> cells;
    for (std::int64_t row = scale.row * rows; row < (scale.row + 1) * rows; ++row)
        for (std::int64_t column = scale.column * columns; column < (scale.column + 1) * columns;
             ++column)
            if (row < whole.rows && column < whole.columns) cells.push_back({row, column});
    return cells;
}

void quantize_block(const Request& request, Cell scale) {
    const std::vector<Cell> cells = cells_of(request, scale);
    std::vector<std::uint32_t> lanes;
    for (const Cell cell : cells) lanes.push_back(request.inputs[0].read(cell));
    std::vector<std::uint8_t> codes(cells.size());
    const Code byte =
        fast::quantize_block(request.rules, request.format, request.values, lanes.data(),
                             static_cast<int>(lanes.size()), codes.data());
    for (std::size_t i = 0; i < cells.size(); ++i) request.outputs[0].write(cells[i], codes[i]);
    request.outputs[1].write(scale, byte.bits);
}

void quantize(const Request& request) {
    const View& scales = request.outputs[1];
    for (std::int64_t row = 0; row < scales.rows; ++row)
        for (std::int64_t column = 0; column < scales.columns; ++column)
            quantize_block(request, {row, column});
}

void dequantize(const Request& request) {
    const auto [rows, columns] = block_shape(request);
    const View& codes = request.inputs[0];
    for (std::int64_t row = 0; row < codes.rows; ++row)
        for (std::int64_t column = 0; column < codes.columns; ++column) {
            const Code scale{request.inputs[1].read({row / rows, column / columns})};
            const Code code{codes.read({row, column})};
            request.outputs[0].write(
                {row, column}, fast::dequantize(request.format, request.values, scale, code).bits);
        }
}

void answer(const Request& request) {
    switch (request.action) {
        case Action::convert:
            return convert(request);
        case Action::encode_scale:
            return encode_scales(request);
        case Action::quantize:
            return quantize(request);
        case Action::dequantize:
            return dequantize(request);
    }
}

mx_status open_device(void** device, mx_message*) {
    *device = nullptr;
    return MX_OK;
}

void close_device(void*) {}

std::size_t describe(void*, const mx_fact** facts) {
    static constexpr std::array known{
        mx_fact{"name", "oracle"}, mx_fact{"vendor", "mxcheck"},
        mx_fact{"notes", "the fast oracle as a device, to test the harness with"}};
    *facts = known.data();
    return known.size();
}

mx_status refuse(const Refusal& refusal, mx_message* message) {
    if (message != nullptr && message->text != nullptr && message->capacity > 0) {
        const std::size_t length = std::min(refusal.reason.size(), message->capacity - 1);
        std::memcpy(message->text, refusal.reason.data(), length);
        message->text[length] = '\0';
    }
    return refusal.status;
}

mx_status supports(void*, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) {
    const PlainCall plain({operation, inputs, input_count, outputs, output_count});
    const auto requests = read_requests(plain.call());
    const auto* refusal = std::get_if<Refusal>(&requests);
    return refusal == nullptr ? MX_OK : refuse(*refusal, message);
}

mx_status run(void*, const mx_operation* operation, const mx_tensor* inputs,
              std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
              mx_message* message) {
    const PlainCall plain({operation, inputs, input_count, outputs, output_count});
    const auto requests = read_requests(plain.call());
    if (const auto* refusal = std::get_if<Refusal>(&requests)) return refuse(*refusal, message);
    for (const Request& request : std::get<std::vector<Request>>(requests)) answer(request);
    plain.store();
    return MX_OK;
}

constexpr mx_device_api table{sizeof(mx_device_api),
                              MX_DEVICE_ABI_VERSION,
                              open_device,
                              close_device,
                              describe,
                              supports,
                              run,
                              nullptr};

}  // namespace

const mx_device_api* oracle_device_api() {
    return &table;
}

}  // namespace mx::selftest
