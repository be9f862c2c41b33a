// See heat.hpp.
#include "conformance/run/heat.hpp"

#include <algorithm>
#include <bit>

#include "conformance/run/site.hpp"
#include "reference/fast/decode.hpp"

namespace mx {
namespace {

constexpr std::size_t bytes = 256;
// Histograms of the broad data of edge cases say nothing: without a mismatch they are left out.
constexpr std::size_t runs_of_right_scales_max = 24;

void count_bytes(const CodeTensor& tensor, std::vector<std::uint64_t>& counts) {
    for (std::size_t i = 0; i < tensor.count(); ++i) ++counts[tensor.at(i) % bytes];
}

}  // namespace

std::uint32_t leading_bfloat16(const ElementFormat& format, Code code) {
    constexpr int mantissa_bits = 7, bias = 127;
    constexpr std::uint32_t infinity = 0x7F80, nan = 0x7FC0;
    if (format.exponent_bits == 8) return code.bits >> (format.mantissa_bits - mantissa_bits);
    const fast::Unpacked value = fast::unpack(format, code);
    const std::uint32_t sign = value.negative ? 0x8000 : 0;
    if (value.kind != fast::Kind::finite)
        return sign | (value.kind == fast::Kind::nan ? nan : infinity);
    if (value.significand == 0) return sign;
    const int top = static_cast<int>(std::bit_width(value.significand)) - 1;
    const std::uint64_t wide = value.significand << mantissa_bits >> top;  // 1.xxxxxxx
    const int exponent = value.exponent + top + bias;
    return sign | static_cast<std::uint32_t>(exponent) << mantissa_bits |
           static_cast<std::uint32_t>(wide & 0x7F);
}

void Heat::add(std::uint32_t bfloat16, std::size_t lane) {
    inputs_.resize(results::histogram_cells_max);
    lanes_.resize(static_cast<std::size_t>(block_size) * bytes);
    ++inputs_.at(bfloat16);
    ++lanes_.at(lane * bytes + (bfloat16 >> 7 & 0xFF));
}

void Heat::add(const Heat& other) {
    const auto add_all = [](std::vector<std::uint64_t>& to,
                            const std::vector<std::uint64_t>& from) {
        to.resize(std::max(to.size(), from.size()));
        for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    add_all(inputs_, other.inputs_);
    add_all(lanes_, other.lanes_);
}

void Heat::write(results::CaseResult& result, std::size_t runs_max) const {
    result.input_cells = results::histogram_of(inputs_, runs_max);
    result.lane_cells = results::histogram_of(lanes_, runs_max);
}

void count_scales(const Evidence& evidence, results::CaseResult& result) {
    std::vector<std::uint64_t> expected(bytes), actual(bytes);
    for (std::size_t i = 0; i < evidence.expected.size(); ++i) {
        if (!holds_scales(evidence.c, i) || evidence.expected[i].width != 1) continue;
        count_bytes(evidence.expected[i], expected);
        count_bytes(evidence.actual[i], actual);
    }
    result.expected_scale_codes = results::histogram_of(expected, bytes);
    if (result.mismatched_scales != 0)
        result.actual_scale_codes = results::histogram_of(actual, bytes);
    else if (result.expected_scale_codes.size() > runs_of_right_scales_max)
        result.expected_scale_codes.clear();
}

}  // namespace mx
