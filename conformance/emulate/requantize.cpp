// See requantize.hpp.
#include "conformance/emulate/requantize.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "conformance/emulate/stored_tensors.hpp"
#include "reference/fast/block.hpp"

namespace mx::emulate {
namespace {

float number_at(const std::vector<std::byte>& bytes, std::size_t index) {
    float number = 0;
    std::memcpy(&number, bytes.data() + index * sizeof number, sizeof number);
    return number;
}

bool is_same(float left, float right) {
    return left == right || (std::isnan(left) && std::isnan(right));
}

// The numbers that the element codes of a format stand for.
std::array<float, 256> element_numbers(const BlockFormat& format) {
    const Code one{static_cast<std::uint32_t>(format.scale().exponent_bias)};
    std::array<float, 256> numbers{};
    for (std::uint32_t code = 0; code < numbers.size() && code >> format.element().code_bits() == 0;
         ++code)
        numbers[code] =
            std::bit_cast<float>(fast::dequantize(format, formats::f32, one, Code{code}).bits);
    return numbers;
}

struct CodesOf {
    const BlockFormat& format;
    Codes codes;
};

Expected<CodesOf> codes_of(data::TensorFile file, const QuantizedFacts& facts) {
    const auto layout = layout_of(facts.shape, block_shape(facts.names));
    if (!layout) return layout.error();
    auto codes = load(file, facts.names, layout.value());
    if (!codes) return codes.error();
    return CodesOf{*find_block_format(facts.names.format), std::move(codes).value()};
}

void compare_codes(const CodesOf& before, const CodesOf& after, Changes& changes) {
    const std::array<float, 256> old_numbers = element_numbers(before.format);
    const std::array<float, 256> new_numbers = element_numbers(after.format);
    changes.has_codes = true;
    changes.elements = after.codes.elements.size();
    for (std::size_t i = 0; i < after.codes.elements.size(); ++i)
        if (!is_same(old_numbers[std::to_integer<std::size_t>(before.codes.elements[i])],
                     new_numbers[std::to_integer<std::size_t>(after.codes.elements[i])]))
            ++changes.elements_changed;
    if (!changes.is_same_grid) return;
    changes.scales = after.codes.scales.size();
    for (std::size_t i = 0; i < after.codes.scales.size(); ++i)
        if (before.codes.scales[i] != after.codes.scales[i]) ++changes.scales_changed;
}

void compare_values(const std::vector<std::byte>& before, const std::vector<std::byte>& after,
                    Changes& changes) {
    changes.elements = before.size() / sizeof(float);
    for (std::size_t i = 0; i < changes.elements; ++i) {
        const float old_value = number_at(before, i), new_value = number_at(after, i);
        if (!is_same(old_value, new_value)) ++changes.values_changed;
        if (!std::isfinite(old_value) || !std::isfinite(new_value)) {
            ++changes.not_finite;
            continue;
        }
        const double error = static_cast<double>(new_value) - static_cast<double>(old_value);
        changes.signal += static_cast<double>(old_value) * static_cast<double>(old_value);
        changes.noise += error * error;
    }
}

// Only of a format of the standard is it known that every other value is exact in f32: the smallest
// is 2^-127 times an element's, and 2^-149 is still there.
Status check_exact(const CodesOf& codes, const std::vector<std::byte>& values) {
    const std::array<float, 256> numbers = element_numbers(codes.format);
    for (std::size_t i = 0; i < codes.codes.elements.size(); ++i)
        if (std::isinf(number_at(values, i)) &&
            std::isfinite(numbers[std::to_integer<std::size_t>(codes.codes.elements[i])]))
            return bad_input("element " + std::to_string(i) +
                             " times its scale is beyond the largest f32, so the tensor cannot go "
                             "through f32 exactly");
    return success();
}

Expected<std::vector<std::byte>> values_of(data::TensorFile file, const QuantizedFacts& facts) {
    auto decoded = dequantize_tensor(std::move(file), facts, "f32");
    if (!decoded) return decoded.error();
    return std::move(decoded.value().tensors.front().bytes);
}

}  // namespace

Expected<Requantized> requantize_tensor(const data::TensorFile& file, const QuantizedFacts& facts,
                                        const BlockNames& names, const QuantizeOptions& options) {
    auto values = values_of(file, facts);
    if (!values) return values.error();
    Requantized result;
    Changes& changes = result.changes;
    changes.is_same_grid = facts.names.axis == names.axis && facts.names.block == names.block;
    const QuantizedFacts now{names, "f32", facts.shape};
    const bool is_standard = !has_real_scales(facts.names) && !has_real_scales(names);

    auto before = is_standard ? codes_of(file, facts) : Expected<CodesOf>(bad_input(""));
    if (before)
        if (const Status exact = check_exact(before.value(), values.value()); !exact)
            return exact.error();
    auto tensor = quantize_tensor({"values", "f32", facts.shape, values.value()}, names, options);
    if (!tensor) return tensor.error();
    result.tensor = std::move(tensor).value();
    if (before) {
        const auto after = codes_of(result.tensor.file, now);
        if (!after) return after.error();
        compare_codes(before.value(), after.value(), changes);
    }
    const auto new_values = values_of(result.tensor.file, now);
    if (!new_values) return new_values.error();
    compare_values(values.value(), new_values.value(), changes);
    return result;
}

}  // namespace mx::emulate
