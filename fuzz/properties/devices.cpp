// What a device must do with whole matrices: the oracle's bits, and relations that need no oracle.
// In every dialect, format and type that it has, numbers and specials alike. The device is the
// built-in "cpu"; with MX_PROPERTY_DEVICE it is the plug-in of that path, such as a planted bug,
// with its configuration.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "conformance/case/case.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/host/device_registry.hpp"
#include "fuzz/device_blocks.hpp"
#include "fuzz/generators.hpp"
#include "reference/fast/block.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::fuzz {
namespace {

DeviceSource source() {
    const char* const text = std::getenv("MX_PROPERTY_DEVICE");
    if (text != nullptr) return DeviceRegistry().resolve(text).value();
    return {.name = "cpu", .get_api = [](std::uint32_t) { return mx_cpu_device_api(); }};
}

Device& device() {
    static auto opened = Device::open(source());
    if (!opened) {
        std::fprintf(stderr, "%s\n", opened.error().message.c_str());
        std::exit(2);
    }
    return opened.value();
}

Matrix draw_matrix() {
    const Quantizer dialect =
        *rc::gen::elementOf(std::vector<Quantizer>(e8m0_quantizers.begin(), e8m0_quantizers.end()));
    const BlockFormat format = *rc::gen::elementOf(
        std::vector<BlockFormat>(mx_block_formats.begin(), mx_block_formats.end()));
    Matrix m;
    m.type = *rc::gen::element(std::string("f32"), std::string("bf16"), std::string("f16"));
    RC_PRE(dialect.is_known() && dialect.quantizes(format) && dialect.reads(m.type));
    m.format = format.name;
    m.dialect = dialect.name;
    m.axis = *rc::gen::element(std::string("row"), std::string("col"));
    m.rows = *rc::gen::inRange(1, 5) * *rc::gen::element(1, 7, 32);
    m.columns = *rc::gen::inRange(1, 5) * *rc::gen::element(1, 7, 32);
    const ElementFormat& input = *find_element_format(m.type);
    const bool any = *rc::gen::inRange(0, 3) == 0;
    for (std::int64_t i = 0; i < m.rows * m.columns; ++i)
        m.values.push_back((any ? draw_code(input) : draw_finite(input, 12)).bits);
    return m;
}

// The lanes of all blocks, each filled up with zeros, as a case has them.
std::string lanes_of(const Matrix& m) {
    std::string text;
    const bool is_row = m.axis == "row";
    for (std::int64_t row = 0; row < m.scale_rows(); ++row)
        for (std::int64_t column = 0; column < m.scale_columns(); ++column)
            for (std::int64_t lane = 0; lane < 32; ++lane) {
                const std::int64_t r = is_row ? row : row * 32 + lane;
                const std::int64_t c = is_row ? column * 32 + lane : column;
                const bool exists = r < m.rows && c < m.columns;
                const auto at = static_cast<std::size_t>(r * m.columns + c);
                char hex[16];
                std::snprintf(hex, sizeof hex, "%s%x", text.empty() ? "" : ",",
                              exists ? m.values[at] : 0);
                text += hex;
            }
    return text;
}

std::string shown(const Matrix& m) {
    const char* const text = std::getenv("MX_PROPERTY_DEVICE");
    const std::string device = text == nullptr ? "" : " --device " + std::string(text);
    return "mxcheck replay 'quantize format=" + m.format + " dialect=" + m.dialect +
           " input=" + m.type + " axis=" + m.axis + " shape=" + std::to_string(m.rows) + "x" +
           std::to_string(m.columns) + " data=bits:" + lanes_of(m) + "'" + device;
}

Matrix transposed(const Matrix& m) {
    Matrix result = m;
    result.axis = m.axis == "row" ? "col" : "row";
    std::swap(result.rows, result.columns);
    for (std::int64_t row = 0; row < m.rows; ++row)
        for (std::int64_t column = 0; column < m.columns; ++column)
            result.values[static_cast<std::size_t>(column * m.rows + row)] =
                m.values[static_cast<std::size_t>(row * m.columns + column)];
    return result;
}

QuantizedMatrix oracle(const Matrix& m) {
    const Quantizer& dialect = *find_quantizer(m.dialect);
    const BlockFormat& format = *find_block_format(m.format);
    const ElementFormat& input = *find_element_format(m.type);
    QuantizedMatrix result;
    result.elements.resize(m.values.size());
    const bool is_row = m.axis == "row";
    const std::int64_t lines = is_row ? m.rows : m.columns, length = is_row ? m.columns : m.rows;
    result.scales.resize(static_cast<std::size_t>(lines * ((length + 31) / 32)));
    for (std::int64_t line = 0; line < lines; ++line)
        for (std::int64_t first = 0; first < length; first += 32) {
            const std::int64_t count = std::min<std::int64_t>(32, length - first);
            const auto at = [&](std::int64_t lane) {
                return static_cast<std::size_t>(is_row ? line * length + first + lane
                                                       : (first + lane) * lines + line);
            };
            std::uint32_t lanes[32];
            std::uint8_t elements[32];
            for (std::int64_t lane = 0; lane < count; ++lane) lanes[lane] = m.values[at(lane)];
            const Code scale = fast::quantize_block(dialect, format, input, lanes,
                                                    static_cast<int>(count), elements);
            for (std::int64_t lane = 0; lane < count; ++lane)
                result.elements[at(lane)] = elements[lane];
            const std::int64_t block = first / 32;
            result.scales[static_cast<std::size_t>(is_row ? line * ((length + 31) / 32) + block
                                                          : block * lines + line)] =
                static_cast<std::uint8_t>(scale.bits);
        }
    return result;
}

// Every dialect, format, type, axis and shape.
RC_GTEST_PROP(Devices, GivesTheOraclesBits, ()) {
    const Matrix m = draw_matrix();
    const auto found = quantize(device(), m);
    RC_PRE(found.has_value());
    RC_LOG() << shown(m);
    RC_ASSERT(*found == oracle(m));
}

// Columns are the rows of the transposed matrix.
RC_GTEST_PROP(Devices, ColumnsAreRowsOfTheTransposed, ()) {
    const Matrix m = draw_matrix();
    const Matrix turned = transposed(m);
    const auto found = quantize(device(), m), other = quantize(device(), turned);
    RC_PRE(found.has_value() && other.has_value());
    RC_LOG() << shown(m);
    for (std::int64_t row = 0; row < m.rows; ++row)
        for (std::int64_t column = 0; column < m.columns; ++column)
            RC_ASSERT(found->elements[static_cast<std::size_t>(row * m.columns + column)] ==
                      other->elements[static_cast<std::size_t>(column * m.rows + row)]);
    for (std::int64_t row = 0; row < m.scale_rows(); ++row)
        for (std::int64_t column = 0; column < m.scale_columns(); ++column)
            RC_ASSERT(found->scales[static_cast<std::size_t>(row * m.scale_columns() + column)] ==
                      other->scales[static_cast<std::size_t>(column * m.scale_rows() + row)]);
}

// What is in the other rows does not count: blocks along rows stand alone.
RC_GTEST_PROP(Devices, ARowAloneIsTheRowAmongOthers, ()) {
    Matrix m = draw_matrix();
    m.axis = "row";
    const auto found = quantize(device(), m);
    RC_PRE(found.has_value());
    const auto row = *rc::gen::inRange<std::int64_t>(0, m.rows);
    Matrix alone = m;
    alone.rows = 1;
    alone.values.assign(m.values.begin() + row * m.columns,
                        m.values.begin() + (row + 1) * m.columns);
    const auto other = quantize(device(), alone);
    RC_LOG() << shown(m) << " row " << row;
    for (std::int64_t column = 0; column < m.columns; ++column)
        RC_ASSERT(found->elements[static_cast<std::size_t>(row * m.columns + column)] ==
                  other->elements[static_cast<std::size_t>(column)]);
    for (std::int64_t block = 0; block < m.scale_columns(); ++block)
        RC_ASSERT(found->scales[static_cast<std::size_t>(row * m.scale_columns() + block)] ==
                  other->scales[static_cast<std::size_t>(block)]);
}

// Rows that change places take their answers along.
RC_GTEST_PROP(Devices, RowsMayChangePlaces, ()) {
    Matrix m = draw_matrix();
    m.axis = "row";
    const auto found = quantize(device(), m);
    RC_PRE(found.has_value());
    Matrix turned = m;
    const auto by = *rc::gen::inRange<std::int64_t>(0, m.rows);
    std::rotate(turned.values.begin(), turned.values.begin() + by * m.columns, turned.values.end());
    const auto other = quantize(device(), turned);
    RC_LOG() << shown(m) << " with rows turned by " << by;
    const auto expect_turned = [by](std::vector<std::uint8_t> codes, std::int64_t columns,
                                    const std::vector<std::uint8_t>& after) {
        std::rotate(codes.begin(), codes.begin() + by * columns, codes.end());
        RC_ASSERT(codes == after);
    };
    expect_turned(found->elements, m.columns, other->elements);
    expect_turned(found->scales, m.scale_columns(), other->scales);
}

// What was asked between does not count.
RC_GTEST_PROP(Devices, TheSameAgainIsTheSame, ()) {
    const Matrix m = draw_matrix();
    Matrix between = m;
    std::ranges::reverse(between.values);
    const auto found = quantize(device(), m);
    RC_PRE(found.has_value());
    static_cast<void>(quantize(device(), between));
    RC_LOG() << shown(m);
    RC_ASSERT(*quantize(device(), m) == *found);
}

}  // namespace
}  // namespace mx::fuzz
