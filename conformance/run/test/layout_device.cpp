// See layout_device.hpp.
#include "conformance/run/test/layout_device.hpp"

#include <cstring>
#include <vector>

#include "reference/exact/layout.hpp"
#include "reference/fast/block.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::test {
namespace {

LayoutDefect defect = LayoutDefect::none;
int runs = 0;

using Bytes = std::vector<std::uint8_t>;

struct Matrix {
    std::int64_t rows = 0, columns = 0;
    std::vector<Code> codes = {};
    Code& at(std::int64_t row, std::int64_t column) {
        return codes[static_cast<std::size_t>(row * columns + column)];
    }
};

Matrix matrix_of(const mx_tensor& tensor) {
    return {tensor.rows, tensor.columns,
            std::vector<Code>(static_cast<std::size_t>(tensor.rows * tensor.columns))};
}

std::uint8_t* bytes_at(const mx_tensor& tensor, std::size_t byte) {
    return static_cast<std::uint8_t*>(tensor.data) + byte;
}

ScaleLayout scale_layout_of(const mx_tensor& tensor) {
    ScaleLayout layout = *find_scale_layout(tensor.layout);
    if (defect == LayoutDefect::tiles_swapped) std::swap(layout.loops[0], layout.loops[1]);
    if (defect == LayoutDefect::scales_linear) layout.loops = layout_rows::nest_row_major({1, 1});
    return layout;
}

CodeStream stream_of(const mx_tensor& tensor) {
    CodeStream stream{find_element_format(tensor.type)->code_bits(), PairOrder::even_first};
    const bool is_high = std::string_view(tensor.layout) == "packed-high";
    const bool is_swapped = defect == LayoutDefect::nibbles_swapped;
    if (is_high != is_swapped) stream.pairs = PairOrder::odd_first;
    return stream;
}

Matrix read_scales(const mx_tensor& tensor) {
    Matrix scales = matrix_of(tensor);
    const auto walked = exact::walk(scale_layout_of(tensor), {tensor.rows, tensor.columns});
    for (std::size_t byte = 0; byte < walked.size(); ++byte)
        if (walked[byte])
            scales.at(walked[byte]->row, walked[byte]->column) = Code{*bytes_at(tensor, byte)};
    if (defect == LayoutDefect::reads_pads)
        scales.at(0, 0).bits ^= *bytes_at(tensor, walked.size() - 1) & 1u;
    return scales;
}

void write_scales(const mx_tensor& tensor, Matrix& scales) {
    const auto walked = exact::walk(scale_layout_of(tensor), {tensor.rows, tensor.columns});
    for (std::size_t byte = 0; byte < walked.size(); ++byte) {
        if (walked[byte])
            *bytes_at(tensor, byte) =
                static_cast<std::uint8_t>(scales.at(walked[byte]->row, walked[byte]->column).bits);
        else if (defect != LayoutDefect::pads_unwritten)
            *bytes_at(tensor, byte) = defect == LayoutDefect::pads_written ? 0x7F : 0;
    }
}

std::vector<Code> row_of(Matrix& matrix, std::int64_t row) {
    const auto first = matrix.codes.begin() + row * matrix.columns;
    return {first, first + matrix.columns};
}

void write_packed(const mx_tensor& tensor, Matrix& elements) {
    std::size_t at = 0;
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        const Bytes bytes = exact::pack(stream_of(tensor), row_of(elements, row));
        std::memcpy(bytes_at(tensor, at), bytes.data(), bytes.size());
        at += bytes.size();
    }
    const bool has_spare_bits =
        exact::pack(stream_of(tensor), {Code{0}}).size() == 1 && tensor.columns % 2 == 1 && at > 0;
    if (defect != LayoutDefect::pads_written || !has_spare_bits) return;
    const int spare = stream_of(tensor).pairs == PairOrder::odd_first ? 0x01 : 0x80;
    *bytes_at(tensor, at - 1) = static_cast<std::uint8_t>(*bytes_at(tensor, at - 1) | spare);
}

Matrix read_packed(const mx_tensor& tensor) {
    Matrix elements = matrix_of(tensor);
    const std::size_t columns = static_cast<std::size_t>(tensor.columns);
    const Bytes like = exact::pack(stream_of(tensor), std::vector<Code>(columns));
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        Bytes bytes = like;
        std::memcpy(bytes.data(), bytes_at(tensor, static_cast<std::size_t>(row) * like.size()),
                    like.size());
        const auto codes = exact::unpack(stream_of(tensor), bytes, columns);
        std::copy(codes.begin(), codes.end(), elements.codes.begin() + row * tensor.columns);
    }
    return elements;
}

void write_inline(const mx_tensor& tensor, int block_size, Matrix& elements, Matrix& scales) {
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        const Bytes bytes = exact::pack_inline(
            {stream_of(tensor), block_size, row_of(elements, row), row_of(scales, row)});
        std::memcpy(bytes_at(tensor, static_cast<std::size_t>(row * tensor.row_stride)),
                    bytes.data(), bytes.size());
    }
}

void read_inline(const mx_tensor& tensor, int block_size, Matrix& elements, Matrix& scales) {
    const auto lanes = static_cast<std::size_t>(block_size);
    const auto packed = static_cast<std::size_t>(tensor.column_stride) - 1;
    for (std::int64_t row = 0; row < tensor.rows; ++row)
        for (std::int64_t block = 0; block < scales.columns; ++block) {
            const auto at =
                static_cast<std::size_t>(row * tensor.row_stride + block * tensor.column_stride);
            const Bytes bytes(bytes_at(tensor, at), bytes_at(tensor, at + packed));
            const auto codes = exact::unpack(stream_of(tensor), bytes, lanes);
            for (std::int64_t lane = 0; lane < block_size; ++lane)
                if (block * block_size + lane < elements.columns)
                    elements.at(row, block * block_size + lane) =
                        codes[static_cast<std::size_t>(lane)];
            scales.at(row, block) = Code{*bytes_at(tensor, at + packed)};
        }
}

Matrix read_bytes(const mx_tensor& tensor) {
    Matrix matrix = matrix_of(tensor);
    const auto width = static_cast<std::size_t>(find_element_format(tensor.type)->code_bytes());
    for (std::size_t i = 0; i < matrix.codes.size(); ++i)
        std::memcpy(&matrix.codes[i].bits, bytes_at(tensor, i * width), width);
    return matrix;
}

void write_bytes(const mx_tensor& tensor, const Matrix& matrix) {
    const auto width = static_cast<std::size_t>(find_element_format(tensor.type)->code_bytes());
    for (std::size_t i = 0; i < matrix.codes.size(); ++i)
        std::memcpy(bytes_at(tensor, i * width), &matrix.codes[i].bits, width);
}

bool is(const mx_tensor& tensor, std::string_view layout) {
    return tensor.layout == layout;
}

// Blocks lie along rows, or down columns.
struct Blocks {
    bool by_row = true;
    std::int64_t size = 32, lines = 0, length = 0;
    explicit Blocks(const mx_operation& operation, const Matrix& values)
        : by_row(std::string_view(operation.axis) == "row"),
          size(operation.block_size),
          lines(by_row ? values.rows : values.columns),
          length(by_row ? values.columns : values.rows) {}
    Code& at(Matrix& matrix, std::int64_t line, std::int64_t place) const {
        return by_row ? matrix.at(line, place) : matrix.at(place, line);
    }
    Matrix scales() const {
        const std::int64_t count = (length + size - 1) / size;
        Matrix matrix{by_row ? lines : count, by_row ? count : lines, {}};
        matrix.codes.resize(static_cast<std::size_t>(lines * count));
        return matrix;
    }
};

void quantize(const mx_operation& operation, const mx_tensor& input, const mx_tensor* outputs) {
    Matrix values = read_bytes(input), elements = matrix_of(input);
    const Blocks blocks(operation, values);
    Matrix scales = blocks.scales();
    for (std::int64_t line = 0; line < blocks.lines; ++line)
        for (std::int64_t first = 0; first < blocks.length; first += blocks.size) {
            std::vector<std::uint32_t> lanes;
            for (std::int64_t i = first; i < std::min(blocks.length, first + blocks.size); ++i)
                lanes.push_back(blocks.at(values, line, i).bits);
            std::vector<std::uint8_t> codes(lanes.size());
            blocks.at(scales, line, first / blocks.size) = fast::quantize_block(
                *find_quantizer(operation.dialect), *find_block_format(operation.format),
                *find_element_format(input.type), lanes.data(), static_cast<int>(lanes.size()),
                codes.data());
            for (std::size_t i = 0; i < codes.size(); ++i)
                blocks.at(elements, line, first + static_cast<std::int64_t>(i)) = Code{codes[i]};
        }
    if (defect == LayoutDefect::one_code_wrong) elements.at(0, 0).bits ^= 1;
    if (is(outputs[0], "inline"))
        return write_inline(outputs[0], static_cast<int>(blocks.size), elements, scales);
    is(outputs[0], "strided") ? write_bytes(outputs[0], elements)
                              : write_packed(outputs[0], elements);
    is(outputs[1], "strided") ? write_bytes(outputs[1], scales) : write_scales(outputs[1], scales);
}

void dequantize(const mx_operation& operation, const mx_tensor* inputs, const mx_tensor& output) {
    Matrix values = matrix_of(output), elements = matrix_of(inputs[0]);
    const Blocks blocks(operation, values);
    Matrix scales = blocks.scales();
    if (is(inputs[0], "inline")) {
        read_inline(inputs[0], static_cast<int>(blocks.size), elements, scales);
    } else {
        elements = is(inputs[0], "strided") ? read_bytes(inputs[0]) : read_packed(inputs[0]);
        scales = is(inputs[1], "strided") ? read_bytes(inputs[1]) : read_scales(inputs[1]);
    }
    for (std::int64_t line = 0; line < blocks.lines; ++line)
        for (std::int64_t place = 0; place < blocks.length; ++place)
            blocks.at(values, line, place) = fast::dequantize(
                *find_block_format(operation.format), *find_element_format(output.type),
                blocks.at(scales, line, place / blocks.size), blocks.at(elements, line, place));
    if (defect == LayoutDefect::flaky) values.at(0, 0).bits = static_cast<std::uint32_t>(runs);
    if (defect == LayoutDefect::one_code_wrong) values.at(0, 0).bits ^= 1;
    write_bytes(output, values);
}

mx_status supports(void*, const mx_operation*, const mx_tensor*, std::size_t, const mx_tensor*,
                   std::size_t, mx_message*) {
    return MX_OK;
}

mx_status run(void*, const mx_operation* operation, const mx_tensor* inputs, std::size_t,
              const mx_tensor* outputs, std::size_t, mx_message*) {
    ++runs;
    std::string_view(operation->name) == "quantize" ? quantize(*operation, inputs[0], outputs)
                                                    : dequantize(*operation, inputs, outputs[0]);
    return MX_OK;
}

const mx_device_api* get_api(std::uint32_t) {
    static constexpr mx_device_api api{
        sizeof(mx_device_api),
        MX_DEVICE_ABI_VERSION,
        [](void** device, mx_message*) { return *device = nullptr, MX_OK; },
        [](void*) {},
        [](void*, const mx_fact**) { return std::size_t{0}; },
        supports,
        run,
        nullptr,
        nullptr};
    return &api;
}

}  // namespace

void set_layout_defect(LayoutDefect wanted) {
    defect = wanted;
}

DeviceSource layout_device() {
    DeviceSource source;
    source.name = "layout";
    source.get_api = get_api;
    return source;
}

}  // namespace mx::test
