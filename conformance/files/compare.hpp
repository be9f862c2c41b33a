// Two readings of quantized tensors held against each other, block by block, as values. Used by
// diff; memory is that of a few tiles, whatever the size of the tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/files/view.hpp"

namespace mx::files {

// A way to read a view: as it is, or its transpose.
struct Reading {
    View view;
    bool is_transposed = false;

    std::int64_t rows() const { return is_transposed ? view.columns : view.rows; }
    std::int64_t columns() const { return is_transposed ? view.rows : view.columns; }
};

// A piece of a row whose elements are judged together: a block, or part of a larger one.
struct Place {
    std::int64_t row = 0, column = 0;
};

// What differs between equal scales or unequal ones, where both read as the same format. A block
// is counted once: in the first row that fits.
struct Differences {
    std::uint64_t neighbours = 0;  // equal scale, and each differing element is the next code
    std::uint64_t scale_rule = 0;  // another scale, and both can be roundings of one original
    std::uint64_t other = 0;
    std::uint64_t toward_zero = 0;  // elements of `neighbours` that are smaller in B
    std::uint64_t away = 0;         // ... or larger
    std::uint64_t scale_up = 0;     // blocks of `scale_rule` whose scale is larger in B
    std::uint64_t scale_down = 0;
};

struct Comparison {
    std::uint64_t blocks = 0, elements = 0;
    std::uint64_t recoded = 0;     // blocks of other codes or another scale and of equal values
    std::uint64_t zero_signs = 0;  // elements that are zeros of unequal sign
    std::uint64_t different_blocks = 0, different_elements = 0;
    Differences kinds;
    std::vector<Place> places;  // of differences, from all over the tensor
};

struct Shape {
    std::int64_t rows = 0, columns = 0;
};

// The elements of a block: 16 where either format has so few, else 32.
std::int64_t block_of(const Reading& a, const Reading& b);

// The common rows and columns, with all processors. The error is that of a file.
Expected<Comparison> compare(const Reading& a, const Reading& b, Shape common);

// Of two tensors of one format whose scales differ: is each scale of one the largest of those that
// the other has in a larger set of blocks? "B takes the amax of ..." for the smallest such set; ""
// if there is none, or if the sets say no more than the block.
Expected<std::string> shared_amax(const Reading& a, const Reading& b, Shape common);

// How a third reading changes what a comparison said: `a` and `b` before, `other_a` and `other_b`
// after.
struct Explained {
    std::uint64_t different = 0;  // blocks that differ as they are
    std::uint64_t explained = 0;  // ... and no longer do
    std::uint64_t parted = 0;     // blocks that are equal as they are, and differ then
};
struct Trial {
    const Reading& a;
    const Reading& b;
    const Reading& other_a;
    const Reading& other_b;
};
Expected<Explained> try_readings(const Trial& trial, Shape common);
// Only around these places.
Expected<Explained> try_at(const Trial& trial, Shape common, const std::vector<Place>& places);

// Are the bytes of two tensors the same?
Expected<bool> equal_bytes(const data::ListedTensor& a, const data::ListedTensor& b);

// A block of both readings, in a line for people: scales and elements in hexadecimal.
Expected<std::string> block_text(const Reading& a, const Reading& b, Place place);

}  // namespace mx::files
