// A case with its inputs written out, so that it can be made smaller: cut to some of its rows and
// columns, elements put to zero; and its way back to a case that says it all in its data. Used by
// shrink; asks no device.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/data/inputs.hpp"

namespace mx::fuzz {

struct Rectangle {
    std::int64_t row = 0, column = 0;
    std::int64_t rows = 0, columns = 0;
};

struct Sample {
    Case c;
    std::vector<CodeTensor> inputs;  // as inputs_of(c)

    std::size_t count() const { return inputs[0].count(); }
    std::uint32_t at(std::size_t element) const { return inputs[0].at(element); }
};

// Rows and columns of one block; 1 x 1 where there are no blocks.
Rectangle block_extent(const Case& c);

// Where a block lies.
Rectangle rectangle_of(const Case& c, std::int64_t block);

// The rectangle begins at the edge of a block. Random words are drawn anew.
Sample cropped(const Sample& sample, const Rectangle& rectangle);

// The same elements, as many as fit in row-major order, among other fields; nothing if those do not
// go together.
std::optional<Sample> with_case(const Sample& sample, const Case& c);

// What the case takes beside its blocks: the number of the tensor, random words.
void add_beside_blocks(const Case& c, std::vector<CodeTensor>& inputs);

// The sample with this element changed. Random words are drawn anew.
void set_element(Sample& sample, std::size_t element, std::uint32_t code);
void draw_words(Sample& sample);

// data=bits:...; nothing if there are too many codes for a line, or blocks of codes have scales
// unlike each other, which a line cannot say.
std::optional<Case> written_out(const Sample& sample);

}  // namespace mx::fuzz
