// See layout.hpp.
#include "reference/exact/layout.hpp"

namespace mx::exact {

namespace {

class Walk {
public:
    Walk(const ScaleLayout& layout, GridShape shape) : layout_(layout), shape_(shape) {}

    std::vector<std::optional<GridPlace>> bytes() {
        visit(0, {0, 0});
        return std::move(bytes_);
    }

private:
    // Runs the loops from `depth` on, the ones above standing at `place`.
    void visit(std::size_t depth, GridPlace place) {
        if (depth == layout_.loops.size() || layout_.loops[depth].step == 0) return add(place);
        const LayoutLoop& loop = layout_.loops[depth];
        const bool along_rows = loop.dimension == Dimension::rows;
        for (int turn = 0; loop.count == until_covered || turn < loop.count; ++turn) {
            const bool covered =
                along_rows ? place.row >= shape_.rows : place.column >= shape_.columns;
            if (loop.count == until_covered && covered) return;
            visit(depth + 1, place);
            (along_rows ? place.row : place.column) += loop.step;
        }
    }

    void add(GridPlace place) {
        const bool exists = place.row < shape_.rows && place.column < shape_.columns;
        bytes_.push_back(exists ? std::optional(place) : std::nullopt);
    }

    const ScaleLayout& layout_;
    GridShape shape_;
    std::vector<std::optional<GridPlace>> bytes_;
};

// The places of a stream's codes in the order in which they are laid down. `count` itself stands
// for a place that has no code: an odd row leaves the second half of its last pair empty.
std::vector<std::size_t> order_of(CodeStream stream, std::size_t count) {
    std::vector<std::size_t> order;
    for (std::size_t even = 0; even < count; even += 2) {
        const std::size_t odd = even + 1;
        const bool even_first = stream.pairs == PairOrder::even_first;
        order.push_back(even_first ? even : odd);
        order.push_back(even_first ? odd : even);
    }
    if (!order.empty() && order.back() >= count) order.pop_back();
    return order;
}

}  // namespace

std::vector<std::optional<GridPlace>> walk(const ScaleLayout& layout, GridShape shape) {
    return Walk(layout, shape).bytes();
}

std::vector<std::uint8_t> pack(CodeStream stream, const std::vector<Code>& codes) {
    std::vector<bool> bits;
    for (const std::size_t index : order_of(stream, codes.size())) {
        const Code code = index < codes.size() ? codes[index] : Code{0};
        for (int bit = 0; bit < stream.code_bits; ++bit)
            bits.push_back((code.bits >> bit & 1) != 0);
    }
    while (bits.size() % 8 != 0) bits.push_back(false);
    std::vector<std::uint8_t> bytes(bits.size() / 8);
    for (std::size_t bit = 0; bit < bits.size(); ++bit)
        if (bits[bit]) bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] + (1 << bit % 8));
    return bytes;
}

std::vector<Code> unpack(CodeStream stream, const std::vector<std::uint8_t>& bytes,
                         std::size_t count) {
    std::vector<Code> codes(count);
    std::size_t bit = 0;
    for (const std::size_t index : order_of(stream, count)) {
        std::uint32_t code = 0;
        for (int place = 0; place < stream.code_bits; ++place, ++bit)
            if ((bytes[bit / 8] >> bit % 8 & 1) != 0) code += std::uint32_t{1} << place;
        if (index < count) codes[index] = Code{code};
    }
    return codes;
}

std::vector<std::uint8_t> pack_inline(const InlineRow& row) {
    std::vector<std::uint8_t> bytes;
    const std::size_t block_size = static_cast<std::size_t>(row.block_size);
    for (std::size_t block = 0; block < row.scales.size(); ++block) {
        std::vector<Code> lanes(block_size);
        for (std::size_t lane = 0; lane < block_size; ++lane)
            if (block * block_size + lane < row.codes.size())
                lanes[lane] = row.codes[block * block_size + lane];
        const std::vector<std::uint8_t> packed = pack(row.stream, lanes);
        bytes.insert(bytes.end(), packed.begin(), packed.end());
        bytes.push_back(static_cast<std::uint8_t>(row.scales[block].bits));
    }
    return bytes;
}

}  // namespace mx::exact
