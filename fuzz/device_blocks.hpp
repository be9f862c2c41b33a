// Blocks to a built-in device and back, in this process. Used by the properties and targets that
// hold devices against the oracle and against each other; judges nothing.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "device/host/device.hpp"

namespace mx::fuzz {

// A matrix of values and how it is to be quantized. The codes of the input type stand in 32 bits.
struct Matrix {
    std::string format, dialect, type, axis;
    std::int64_t rows = 0, columns = 0;
    std::vector<std::uint32_t> values;

    // Of the grid of blocks of 32.
    std::int64_t scale_rows() const { return axis == "row" ? rows : (rows + 31) / 32; }
    std::int64_t scale_columns() const { return axis == "col" ? columns : (columns + 31) / 32; }
};

struct QuantizedMatrix {
    std::vector<std::uint8_t> elements, scales;
    bool operator==(const QuantizedMatrix&) const = default;
};

// Nothing where the device does not do it, or says that it failed.
inline std::optional<QuantizedMatrix> quantize(Device& device, const Matrix& m) {
    const Operation operation{.name = "quantize",
                              .format = m.format,
                              .dialect = m.dialect,
                              .axis = m.axis,
                              .block_size = 32};
    const std::string element = m.format.substr(m.format.find('-') + 1);
    const TensorSpec input = dense(m.type, m.rows, m.columns);
    const TensorSpec elements =
        dense(m.format.starts_with("mxint8") ? m.format.substr(2) : element, m.rows, m.columns);
    const TensorSpec scales = dense("e8m0", m.scale_rows(), m.scale_columns());
    if (device.supports(operation, {{input}, {elements, scales}}).status != MX_OK)
        return std::nullopt;
    const std::size_t width = element_width(m.type);
    std::vector<std::byte> bytes(m.values.size() * width);
    for (std::size_t i = 0; i < m.values.size(); ++i)
        std::memcpy(bytes.data() + i * width, &m.values[i], width);
    QuantizedMatrix result;
    result.elements.resize(static_cast<std::size_t>(m.rows * m.columns));
    result.scales.resize(static_cast<std::size_t>(m.scale_rows() * m.scale_columns()));
    const CallResult ran = device.run(
        operation, {{{input, bytes.data()}},
                    {{elements, result.elements.data()}, {scales, result.scales.data()}}});
    if (ran.status != MX_OK) return std::nullopt;
    return result;
}

}  // namespace mx::fuzz
