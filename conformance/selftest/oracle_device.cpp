// See oracle_device.hpp.
#include "conformance/selftest/oracle_device.hpp"

#include <array>
#include <vector>

#include "conformance/selftest/plain_call.hpp"
#include "device/kit/plugin.hpp"
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

// The cells of the block whose scale lies at `scale`, as far as the tensor has them.
std::vector<Cell> cells_of(const Request& request, Cell scale) {
    const std::int64_t rows = request.blocks.rows(), columns = request.blocks.columns();
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
    const std::int64_t rows = request.blocks.rows(), columns = request.blocks.columns();
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

// What `answer` is asked for, once the tensors in other layouts are copied.
std::vector<Request> requests_of(const PlainCall& plain, kit::Buffers buffers) {
    return read_requests(plain.call(), buffers);
}

class Oracle {
public:
    static std::span<const mx_fact> facts() {
        static constexpr std::array known{
            mx_fact{"name", "oracle"}, mx_fact{"vendor", "mxcheck"},
            mx_fact{"notes", "the fast oracle as a device, to test the harness with"}};
        return known;
    }
    static void supports(const kit::Arguments& call) {
        const kit::Call checked(call, kit::Buffers::absent);
        requests_of(PlainCall(call), kit::Buffers::absent);
    }
    static void run(const kit::Arguments& call) {
        const kit::Call checked(call, kit::Buffers::present);
        const PlainCall plain(call);
        for (const Request& request : requests_of(plain, kit::Buffers::present)) answer(request);
        plain.store();
    }
};

}  // namespace

const mx_device_api* oracle_device_api() {
    return &kit::Plugin<Oracle>::table;
}

}  // namespace mx::selftest
