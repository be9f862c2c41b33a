// See sample.hpp.
#include "fuzz/search/sample.hpp"

#include <algorithm>

#include "conformance/data/random_words.hpp"
#include "reference/base/hex.hpp"
#include "reference/problem/problem.hpp"

namespace mx::fuzz {
namespace {

constexpr std::size_t codes_of_a_line = 4096;

CodeTensor cut(const CodeTensor& tensor, const Rectangle& part) {
    CodeTensor result = make_tensor(tensor.type, part.rows, part.columns);
    for (std::int64_t row = 0; row < part.rows; ++row)
        for (std::int64_t column = 0; column < part.columns; ++column)
            result.set(static_cast<std::size_t>(row * part.columns + column),
                       tensor.at(static_cast<std::size_t>((part.row + row) * tensor.columns +
                                                          part.column + column)));
    return result;
}

bool has_scales(const Case& c) {
    return c.operation == OperationKind::dequantize;
}

using Blocks = std::vector<std::vector<std::uint32_t>>;

// The lanes of every block that lie in the tensor: of axis both some blocks have none.
Blocks blocks_of(const Sample& sample) {
    const Blocking blocking = blocking_of(sample.c);
    const std::int64_t count = block_grid(blocking).count();
    Blocks blocks;
    for (std::int64_t block = 0; block < count; ++block) {
        const BlockPlace place = place_of(blocking, block);
        std::vector<std::uint32_t> lanes;
        for (int lane = 0; lane < place.count; ++lane)
            lanes.push_back(sample.at(place.element(lane)));
        blocks.push_back(std::move(lanes));
    }
    return blocks;
}

// As many blocks as make these when they are repeated, if that can be.
std::optional<Blocks> repeated(const Blocks& blocks, std::size_t period) {
    Blocks list(period);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        std::vector<std::uint32_t>& listed = list[i % period];
        const std::size_t common = std::min(listed.size(), blocks[i].size());
        if (!std::equal(listed.begin(), listed.begin() + static_cast<std::ptrdiff_t>(common),
                        blocks[i].begin()))
            return std::nullopt;
        if (listed.size() < blocks[i].size()) listed = blocks[i];
    }
    return list;
}

// The fewest blocks that say all, each but the last as long as a whole one; nothing if a line of
// text cannot hold them. Lanes that lie in no tensor are written as 0, and only between others.
std::optional<Blocks> shortest(const Blocks& blocks, std::size_t lanes) {
    for (std::size_t period = 1; (period - 1) * lanes <= codes_of_a_line; ++period) {
        std::optional<Blocks> list = repeated(blocks, period);
        if (!list) continue;
        std::vector<std::uint32_t>& last = list->back();
        while (!last.empty() && last.back() == 0) last.pop_back();
        if (last.empty()) last.push_back(0);
        for (std::size_t i = 0; i + 1 < period; ++i) (*list)[i].resize(lanes);
        return list;
    }
    return std::nullopt;
}

bool all_equal(const CodeTensor& tensor) {
    for (std::size_t i = 1; i < tensor.count(); ++i)
        if (tensor.at(i) != tensor.at(0)) return false;
    return true;
}

}  // namespace

Rectangle block_extent(const Case& c) {
    if (!has_blocks(c)) return {0, 0, 1, 1};
    return {0, 0, c.axis == BlockAxis::row ? 1 : c.block, c.axis == BlockAxis::col ? 1 : c.block};
}

Rectangle rectangle_of(const Case& c, std::int64_t block) {
    if (!has_blocks(c)) {
        const std::int64_t first = block * block_size;
        const std::int64_t column = c.columns == 0 ? 0 : first % c.columns;
        return {c.columns == 0 ? 0 : first / c.columns, column, 1,
                std::min(block_size, c.columns - column)};
    }
    const BlockGrid grid = block_grid(c);
    const Rectangle extent = block_extent(c);
    const std::int64_t row = block / grid.block_columns * extent.rows;
    const std::int64_t column = block % grid.block_columns * extent.columns;
    return {row, column, std::min(extent.rows, c.rows - row),
            std::min(extent.columns, c.columns - column)};
}

Sample cropped(const Sample& sample, const Rectangle& part) {
    Sample result{sample.c, {cut(sample.inputs[0], part)}};
    result.c.rows = part.rows;
    result.c.columns = part.columns;
    if (has_scales(sample.c)) {
        const Rectangle extent = block_extent(sample.c);
        const BlockGrid grid = block_grid(result.c);
        result.inputs.push_back(
            cut(sample.inputs[1], {part.row / extent.rows, part.column / extent.columns,
                                   grid.block_rows, grid.block_columns}));
    }
    draw_words(result);
    return result;
}

std::optional<Sample> with_case(const Sample& sample, const Case& c) {
    if (!check_combination(c)) return std::nullopt;
    Sample result{c, {sample.inputs[0]}};
    result.inputs[0].rows = c.rows;
    result.inputs[0].columns = c.columns;
    result.inputs[0].bytes.resize(result.count() *
                                  static_cast<std::size_t>(result.inputs[0].width));
    if (has_scales(c)) {
        CodeTensor scales = make_tensor(shape_of(c, Part::scales));
        for (std::size_t i = 0; i < scales.count(); ++i)
            scales.set(i,
                       sample.inputs[1].at(i % std::max<std::size_t>(sample.inputs[1].count(), 1)));
        result.inputs.push_back(std::move(scales));
    }
    draw_words(result);
    return result;
}

void add_beside_blocks(const Case& c, std::vector<CodeTensor>& inputs) {
    const std::vector<Part> parts = inputs_of(c);
    for (std::size_t i = inputs.size(); i < parts.size(); ++i) {
        inputs.push_back(make_tensor(shape_of(c, parts[i])));
        if (parts[i] == Part::tensor_number) inputs[i].set(0, *c.tensor_number);
        if (parts[i] == Part::random_bits) fill_random_words(c, inputs[0], inputs[i]);
    }
}

void set_element(Sample& sample, std::size_t element, std::uint32_t code) {
    sample.inputs[0].set(element, code);
}

void draw_words(Sample& sample) {
    sample.inputs.resize(has_scales(sample.c) ? 2 : 1);
    add_beside_blocks(sample.c, sample.inputs);
}

std::optional<Case> written_out(const Sample& sample) {
    Case c = sample.c;
    c.index = 0;
    c.data = "bits:";
    if (has_scales(c)) {
        if (!all_equal(sample.inputs[1])) return std::nullopt;
        c.data += hex(sample.inputs[1].count() == 0 ? 127 : sample.inputs[1].at(0)) + ":";
    }
    const auto blocks = shortest(blocks_of(sample), static_cast<std::size_t>(lanes_of(c)));
    if (!blocks) return std::nullopt;
    std::string separator;
    for (const std::vector<std::uint32_t>& block : *blocks)
        for (const std::uint32_t lane : block) {
            c.data += separator + hex(lane);
            separator = ",";
        }
    return c;
}

}  // namespace mx::fuzz
