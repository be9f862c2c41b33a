// Any bytes as a block: the fast and the exact oracle quantize it alike in every dialect, and
// take it back alike. The first three bytes choose dialect, format and type; the rest are lanes.
#include <array>
#include <cstring>
#include <vector>

#include "fuzz/targets/round_trip.hpp"
#include "reference/exact/block.hpp"
#include "reference/exact/round.hpp"
#include "reference/fast/block.hpp"
#include "reference/spec/quantizers.hpp"

namespace {

constexpr std::size_t lanes_max = 32;

void check_block(const mx::Quantizer& dialect, const mx::BlockFormat& format,
                 const mx::ElementFormat& input, const std::vector<std::uint32_t>& lanes) {
    using namespace mx;
    std::array<std::uint8_t, lanes_max> elements{};
    const Code scale = fast::quantize_block(dialect, format, input, lanes.data(),
                                            static_cast<int>(lanes.size()), elements.data());
    std::vector<exact::Value> values;
    for (const std::uint32_t lane : lanes)
        values.push_back(exact::read_input(dialect.subnormals, input, Code{lane}));
    const exact::Block block = exact::quantize_block(dialect, format, values);
    fuzz::require("the oracles agree on the scale", block.scale == scale);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const Code element{elements[i]};
        fuzz::require("the oracles agree on the elements", block.elements[i] == element);
        const Code fast = fast::dequantize(format, input, scale, element);
        const Code exact = exact::dequantize(format, input, scale, element);
        fuzz::require("the oracles agree on the way back",
                      fast == exact || (input.is_nan(fast) && input.is_nan(exact)));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 4) return 0;
    const mx::Quantizer& dialect = mx::e8m0_quantizers[data[0] % mx::e8m0_quantizers.size()];
    const mx::BlockFormat& format = mx::mx_block_formats[data[1] % mx::mx_block_formats.size()];
    const auto type = mx::input_types[data[2] % mx::input_types.size()];
    if (!dialect.is_known() || !dialect.quantizes(format) || !dialect.reads(type)) return 0;
    const mx::ElementFormat& input = *mx::find_element_format(type);
    const auto width = static_cast<std::size_t>(input.code_bytes());
    std::vector<std::uint32_t> lanes;
    for (std::size_t at = 3; at + width <= size && lanes.size() < lanes_max; at += width) {
        std::uint32_t lane = 0;
        std::memcpy(&lane, data + at, width);
        lanes.push_back(lane);
    }
    if (!lanes.empty()) check_block(dialect, format, input, lanes);
    return 0;
}
