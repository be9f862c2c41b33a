// See bits_source.hpp.
#include "conformance/data/bits_source.hpp"

#include <algorithm>
#include <charconv>

#include "reference/problem/problem.hpp"

namespace mx {
namespace {

Expected<std::uint32_t> parse_code(const ElementFormat& format, std::string_view text) {
    const std::string code = "code '" + std::string(text) + "' in data=bits: ";
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
    if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size())
        return bad_input(code + "is not a hexadecimal number");
    const std::uint32_t mask = format.code_sign_mask() | format.code_magnitude_mask();
    if (error != std::errc{} || (bits & ~mask) != 0)
        return bad_input(code + "does not fit the " + std::to_string(format.code_bits()) +
                         " bits of " + std::string(format.name));
    return bits;
}

// Cuts the text up to the separator off its front.
std::string_view take_until(std::string_view& text, char separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
}

// The scale in front of the codes of dequantize.
Expected<std::uint32_t> take_scale(const Case& c, std::string_view& text) {
    if (c.operation != OperationKind::dequantize) return std::uint32_t{0};
    if (text.find(':') == std::string_view::npos)
        return bad_input("data=bits: of dequantize is SCALE:CODE,CODE,..., such as bits:7f:38,b8");
    return parse_code(scale_format_of(c), take_until(text, ':'));
}

}  // namespace

Expected<std::shared_ptr<const BlockSource>> open_bits(const Case& c) {
    const bool is_amax = c.operation == OperationKind::encode_scale;
    const bool is_codes = c.operation == OperationKind::dequantize;
    const ElementFormat& format = is_codes ? element_format_of(c) : c.type;
    std::string_view text = std::string_view(c.data).substr(bits_prefix.size());
    const auto scale = take_scale(c, text);
    if (!scale) return scale.error();
    std::vector<BlockData> blocks;
    std::size_t lane = 0;
    for (bool more = true; more;) {
        more = text.find(',') != std::string_view::npos;
        const auto code = parse_code(format, take_until(text, ','));
        if (!code) return code.error();
        if (is_amax && format.is_negative(Code{code.value()}))
            return bad_input("data=bits: has a negative amax, which no block has");
        if (lane % static_cast<std::size_t>(lanes_of(c)) == 0) {
            blocks.push_back(block_of_zeros(c));
            blocks.back().scale = scale.value();
            lane = 0;
        }
        blocks.back().lanes[lane++] = code.value();
    }
    return std::shared_ptr<const BlockSource>(list_source(blocks));
}

}  // namespace mx
