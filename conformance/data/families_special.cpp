// Families of blocks designed by hand: special values in every lane, alone and together, and blocks
// that spread over many binades.
#include "conformance/data/family.hpp"
#include "reference/spec/formats.hpp"

namespace mx {
namespace {

constexpr std::size_t lanes = block_size;

std::vector<std::uint32_t> special_magnitudes(const ElementFormat& input) {
    const std::uint32_t quiet = std::uint32_t{1} << (input.mantissa_bits - 1);
    const std::uint32_t smallest_normal = std::uint32_t{1} << input.mantissa_bits;
    return {
        input.code_infinity() | quiet,      // the usual quiet NaN
        input.code_infinity() | 1,          // a signalling NaN
        input.code_nan(),                   // all ones
        input.code_infinity() | quiet | 1,  // a quiet NaN with a payload
        input.code_infinity(),
        0,
        1,  // smallest subnormal
        smallest_normal - 1,
        smallest_normal,
        input.code_max_finite(),
    };
}

// Ordinary values around one: mantissas and binades change from lane to lane, no lane is zero.
std::uint32_t ordinary(const ElementFormat& input, std::size_t lane) {
    const std::uint32_t field =
        static_cast<std::uint32_t>(input.exponent_bias) - static_cast<std::uint32_t>(lane % 5);
    const std::uint32_t mantissa = static_cast<std::uint32_t>(lane * 11 + 3)
                                   << (input.mantissa_bits - 6);
    const std::uint32_t sign = lane % 3 == 1 ? input.code_sign_mask() : 0;
    return sign | field << input.mantissa_bits | (mantissa & input.code_mantissa_mask());
}

BlockData ordinary_block(const ElementFormat& input) {
    BlockData data;
    for (std::size_t lane = 0; lane < lanes; ++lane) data.lanes[lane] = ordinary(input, lane);
    return data;
}

BlockData filled(std::uint32_t code) {
    BlockData data;
    data.lanes.fill(code);
    return data;
}

// One special value in each lane in turn, among ordinary values and among zeros; and in all lanes.
void add_alone(std::vector<BlockData>& blocks, const ElementFormat& input, std::uint32_t code) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        for (BlockData data : {ordinary_block(input), filled(0)}) {
            data.lanes[lane] = code;
            blocks.push_back(data);
        }
    }
    blocks.push_back(filled(code));
}

// Two special values together, in places that move on from pair to pair.
void add_together(std::vector<BlockData>& blocks, const ElementFormat& input,
                  const std::vector<std::uint32_t>& codes) {
    for (const std::uint32_t first : codes)
        for (const std::uint32_t second : codes) {
            BlockData data = ordinary_block(input);
            const std::size_t lane = blocks.size() % lanes;
            data.lanes[lane] = first;
            data.lanes[(lane * 7 + 5) % lanes == lane ? (lane + 1) % lanes
                                                      : (lane * 7 + 5) % lanes] = second;
            blocks.push_back(data);
        }
}

}  // namespace

std::unique_ptr<BlockSource> open_edge_special(const Case& c) {
    const ElementFormat& input = *find_element_format(c.type);
    std::vector<std::uint32_t> codes;
    for (const std::uint32_t magnitude : special_magnitudes(input)) {
        codes.push_back(magnitude);
        if (c.operation != "encode_scale") codes.push_back(magnitude | input.code_sign_mask());
    }
    std::vector<BlockData> blocks;
    if (c.operation == "encode_scale") {
        for (const std::uint32_t code : codes) blocks.push_back(filled(code));
        return list_source(std::move(blocks));
    }
    for (const std::uint32_t code : codes) add_alone(blocks, input, code);
    add_together(blocks, input, codes);
    BlockData zeros;
    for (std::size_t lane = 0; lane < lanes; ++lane)
        zeros.lanes[lane] = lane % 2 == 0 ? 0 : input.code_sign_mask();
    blocks.push_back(zeros);
    return list_source(std::move(blocks));
}

// Every binade of the input as the block's largest, the other lanes falling off by one, two or four
// binades a lane, upwards or downwards, with four kinds of mantissa.
std::unique_ptr<BlockSource> open_edge_mixed(const Case& c) {
    const ElementFormat& input = *find_element_format(c.type);
    const std::uint32_t half = std::uint32_t{1} << (input.mantissa_bits - 1);
    std::vector<BlockData> blocks;
    const std::uint32_t fields = input.code_infinity() >> input.mantissa_bits;
    for (std::uint32_t field = 0; field < fields; ++field)
        for (const std::uint32_t mantissa : {0u, half, half | 1, input.code_mantissa_mask()}) {
            BlockData data;
            const std::uint32_t step = 1u << field % 3;
            for (std::uint32_t lane = 0; lane < lanes; ++lane) {
                const std::uint32_t place = mantissa % 2 == 0 ? lane : 31 - lane;
                const std::uint32_t drop = place * step;
                const std::uint32_t sign = (lane + field) % 2 == 0 ? 0 : input.code_sign_mask();
                data.lanes[lane] =
                    sign | (field < drop ? 0 : field - drop) << input.mantissa_bits | mantissa;
            }
            blocks.push_back(data);
        }
    return list_source(std::move(blocks));
}

}  // namespace mx
