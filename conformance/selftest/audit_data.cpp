// See audit_data.hpp.
#include "conformance/selftest/audit_data.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "conformance/data/philox.hpp"
#include "conformance/run/expected.hpp"
#include "reference/fast/block.hpp"
#include "reference/problem/problem.hpp"

namespace mx::selftest {
namespace {

constexpr std::uint64_t seed = 0;

// Streams of the generator. A number owns eight counters of its stream.
enum class Stream : std::uint64_t { uniform = 100, normal = 101 };

std::uint32_t word(Stream stream, std::size_t number, std::size_t part) {
    return philox({seed, static_cast<std::uint64_t>(stream), number * 8 + part / 4})[part % 4];
}

// 24 random bits over three: exact in double, and below 1 after rounding to float too.
double uniform(std::size_t number) {
    const std::uint32_t bits = word(Stream::uniform, number, 0) >> 8;
    return 3.0 * static_cast<double>(bits) / 16777216.0 - 2.0;
}

// Twelve uniform numbers of 16 bits: the sum has variance 1 (in units of 2^16) and this mean.
double normal(std::size_t number) {
    constexpr std::int64_t mean = 12 * 65535 / 2;
    std::int64_t sum = 0;
    for (std::size_t part = 0; part < 6; ++part) {
        const std::uint32_t pair = word(Stream::normal, number, part);
        sum += (pair & 0xFFFFu) + (pair >> 16);
    }
    return static_cast<double>(sum - mean) / 65536.0;
}

std::vector<std::uint8_t> bytes_of(const CodeTensor& tensor) {
    std::vector<std::uint8_t> bytes(tensor.count());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(tensor.at(i));
    return bytes;
}

Case case_of(const Setting& setting) {
    Case c;
    c.operation = OperationKind::quantize;
    c.format = setting.format;
    c.dialect = setting.dialect;
    c.axis = setting.axis;
    return c;
}

Sample complete(const Case& c, std::vector<CodeTensor> inputs) {
    Sample sample;
    sample.c = c;
    sample.inputs = std::move(inputs);
    const ElementFormat& format = c.type;
    for (std::size_t i = 0; i < sample.inputs[0].count(); ++i)
        sample.floats.push_back(static_cast<float>(value_of(format, sample.inputs[0].at(i))));
    sample.expected = numbers_of(c, expect(c, sample.inputs));
    return sample;
}

}  // namespace

double drawn(Population population, std::size_t number) {
    if (population == Population::uniform) return uniform(number);
    if (population == Population::normal) return normal(number);
    return static_cast<double>(number) / 4;
}

std::uint32_t code_of(const ElementFormat& format, double value) {
    const Code single{std::bit_cast<std::uint32_t>(static_cast<float>(value))};
    return fast::round(format, Rounding::nearest_even, Overflow::overflow,
                       fast::unpack(formats::f32, single))
        .bits;
}

double value_of(const ElementFormat& format, std::uint32_t code) {
    const fast::Unpacked parts = fast::unpack(format, Code{code});
    if (parts.kind == fast::Kind::nan) return std::numeric_limits<double>::quiet_NaN();
    const double magnitude =
        parts.kind == fast::Kind::infinity
            ? std::numeric_limits<double>::infinity()
            : std::ldexp(static_cast<double>(parts.significand), parts.exponent);
    return parts.negative ? -magnitude : magnitude;
}

Sample draw(Population population, const Setting& setting, Shape shape) {
    Case c = case_of(setting);
    if (population == Population::normal) c.type = formats::bf16;
    c.rows = shape.rows;
    c.columns = shape.columns;
    CodeTensor input = make_tensor({c.type, c.rows, c.columns});
    for (std::size_t i = 0; i < input.count(); ++i)
        input.set(i, code_of(c.type, drawn(population, i)));
    std::vector<CodeTensor> inputs;
    inputs.push_back(std::move(input));
    return complete(c, std::move(inputs));
}

Expected<Sample> edge_blocks(std::string_view family, const Setting& setting, Sources& sources) {
    Case c = case_of(setting);
    c.axis = BlockAxis::row;
    c.data = family;
    const auto source = sources.open(c);
    if (!source) return source.error();
    c.rows = static_cast<std::int64_t>(source.value()->size());
    c.columns = block_size;
    return complete(c, make_inputs(c, *source.value()));
}

Numbers numbers_of(const Case& c, const std::vector<CodeTensor>& outputs) {
    Numbers numbers{bytes_of(outputs[0]), bytes_of(outputs[1]), {}, {}};
    const BlockFormat& format = *c.format;
    std::array<double, 256> element_of{}, scale_of{};
    for (std::uint32_t code = 0; code < 256; ++code) {
        element_of[code] = value_of(format.element(), code);
        scale_of[code] = value_of(format.scale(), code);
    }
    const Blocking blocking = blocking_of(c);
    for (std::size_t i = 0; i < numbers.codes.size(); ++i) {
        const std::int64_t block = lane_of(blocking, i).block;
        numbers.elements.push_back(element_of[numbers.codes[i]]);
        numbers.values.push_back(numbers.elements[i] *
                                 scale_of[numbers.scales[static_cast<std::size_t>(block)]]);
    }
    return numbers;
}

}  // namespace mx::selftest
