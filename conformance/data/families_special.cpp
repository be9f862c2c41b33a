// Families of blocks designed by hand: special values in every lane, alone and together, and blocks
// that spread over many binades.
#include "conformance/data/family.hpp"
#include "reference/problem/problem.hpp"
#include "reference/spec/formats.hpp"

namespace mx {
namespace {

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

// What the blocks are made of.
struct Blocks {
    const ElementFormat& input;
    std::size_t lanes;
    std::vector<BlockData> list;

    explicit Blocks(const Case& c) : input(c.type), lanes(static_cast<std::size_t>(lanes_of(c))) {}

    BlockData filled(std::uint32_t code) const { return {std::vector(lanes, code), 0}; }
    BlockData ordinary_block() const {
        BlockData data = filled(0);
        for (std::size_t lane = 0; lane < lanes; ++lane) data.lanes[lane] = ordinary(input, lane);
        return data;
    }
};

// All lanes; of large blocks some, the first and the last among them.
std::vector<std::size_t> lanes_to_visit(std::size_t lanes) {
    const std::size_t count = lanes <= 64 ? lanes : 16;
    if (count == 1) return {0};
    std::vector<std::size_t> visited;
    for (std::size_t i = 0; i < count; ++i) visited.push_back(i * (lanes - 1) / (count - 1));
    return visited;
}

// One special value in each lane in turn, among ordinary values and among zeros; and in all lanes.
void add_alone(Blocks& blocks, std::uint32_t code) {
    for (const std::size_t lane : lanes_to_visit(blocks.lanes)) {
        for (BlockData data : {blocks.ordinary_block(), blocks.filled(0)}) {
            data.lanes[lane] = code;
            blocks.list.push_back(std::move(data));
        }
    }
    blocks.list.push_back(blocks.filled(code));
}

// Two special values together, in places that move on from pair to pair.
void add_together(Blocks& blocks, const std::vector<std::uint32_t>& codes) {
    for (const std::uint32_t first : codes)
        for (const std::uint32_t second : codes) {
            BlockData data = blocks.ordinary_block();
            const std::size_t lane = lane_in_turn(blocks.list.size(), blocks.lanes);
            const std::size_t other = (lane * 7 + 5) % blocks.lanes;
            data.lanes[lane] = first;
            data.lanes[other == lane ? (lane + 1) % blocks.lanes : other] = second;
            blocks.list.push_back(std::move(data));
        }
}

}  // namespace

std::unique_ptr<BlockSource> open_edge_special(const Case& c) {
    Blocks blocks(c);
    const bool has_signs = c.operation != OperationKind::encode_scale;
    const std::uint32_t sign = blocks.input.code_sign_mask();
    std::vector<std::uint32_t> codes;
    for (const std::uint32_t magnitude : special_magnitudes(blocks.input)) {
        codes.push_back(magnitude);
        if (has_signs) codes.push_back(magnitude | sign);
    }
    if (!has_signs) {
        for (const std::uint32_t code : codes) blocks.list.push_back(blocks.filled(code));
        return list_source(blocks.list);
    }
    for (const std::uint32_t code : codes) add_alone(blocks, code);
    add_together(blocks, codes);
    BlockData zeros = blocks.filled(0);
    for (std::size_t lane = 1; lane < blocks.lanes; lane += 2) zeros.lanes[lane] = sign;
    blocks.list.push_back(std::move(zeros));
    return list_source(blocks.list);
}

// Every binade of the input as the block's largest, the other lanes falling off over the block by
// one, two or four binades in 32 steps, upwards or downwards, with four kinds of mantissa.
std::unique_ptr<BlockSource> open_edge_mixed(const Case& c) {
    Blocks blocks(c);
    const ElementFormat& input = blocks.input;
    const std::uint32_t half = std::uint32_t{1} << (input.mantissa_bits - 1);
    const std::uint32_t fields = input.code_infinity() >> input.mantissa_bits;
    for (std::uint32_t field = 0; field < fields; ++field)
        for (const std::uint32_t mantissa : {0u, half, half | 1, input.code_mantissa_mask()}) {
            BlockData data = blocks.filled(0);
            const std::uint32_t step = 1u << field % 3;
            for (std::size_t lane = 0; lane < blocks.lanes; ++lane) {
                const std::size_t place = mantissa % 2 == 0 ? lane : blocks.lanes - 1 - lane;
                const auto fall = static_cast<std::uint32_t>(
                    blocks.lanes <= 32 ? place : place * 32 / blocks.lanes);
                const std::uint32_t drop = fall * step;
                const std::uint32_t sign = (lane + field) % 2 == 0 ? 0 : input.code_sign_mask();
                data.lanes[lane] =
                    sign | (field < drop ? 0 : field - drop) << input.mantissa_bits | mantissa;
            }
            blocks.list.push_back(std::move(data));
        }
    return list_source(blocks.list);
}

}  // namespace mx
