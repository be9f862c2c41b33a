// See block_kernels.hpp.
#include "conformance/library/block_kernels.hpp"

#include <array>
#include <utility>

namespace mx::library {
namespace {

constexpr std::size_t types = input_types.size();
constexpr std::size_t combinations = mx_format_count * types;

template <std::size_t combination>
struct Folded {
    static constexpr BlockFormat format = block_formats[combination / types];
    static constexpr ElementFormat type = *find_element_format(input_types[combination % types]);

    static Code quantize(const Quantizer& quantizer, const std::uint32_t* lanes, int count,
                         std::uint8_t* elements, const RandomBits* random) {
        return fast::quantize_block(quantizer, format, type, lanes, count, elements, random);
    }
    static void dequantize(Code scale, const std::uint8_t* elements, int count,
                           std::uint32_t* values) {
        for (int i = 0; i < count; ++i)
            values[i] = fast::dequantize(format, type, scale, Code{elements[i]}).bits;
    }
};

template <std::size_t... each>
constexpr std::array<BlockKernel, combinations> block_kernels(std::index_sequence<each...>) {
    return {Folded<each>::quantize...};
}
template <std::size_t... each>
constexpr std::array<ValuesKernel, combinations> values_kernels(std::index_sequence<each...>) {
    return {Folded<each>::dequantize...};
}

std::size_t index_of(const BlockFormat& format, const ElementFormat& type) {
    for (std::size_t i = 0; i < combinations; ++i)
        if (block_formats[i / types].name == format.name && input_types[i % types] == type.name)
            return i;
    MX_ASSERT(false && "a format or type without a kernel");
    return 0;
}

}  // namespace

BlockKernel block_kernel(const BlockFormat& format, const ElementFormat& input) {
    static constexpr auto kernels = block_kernels(std::make_index_sequence<combinations>());
    return kernels[index_of(format, input)];
}

ValuesKernel values_kernel(const BlockFormat& format, const ElementFormat& output) {
    static constexpr auto kernels = values_kernels(std::make_index_sequence<combinations>());
    return kernels[index_of(format, output)];
}

}  // namespace mx::library
