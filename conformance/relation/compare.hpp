// Two answers held against each other, place by place. Used by the relations alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/relation/relation.hpp"

namespace mx::relation {

// Where the element or scale i of the first answer stands in the second one.
using Places = std::vector<std::size_t>;

Places same_places(const CodeTensor& tensor);

// Rows and columns change places.
CodeTensor transposed(const CodeTensor& tensor);
Places transposed_places(const CodeTensor& tensor);

// Part of a tensor; beyond its edge there are zeros.
struct Cut {
    std::int64_t row = 0, column = 0, rows = 0, columns = 0;
};
CodeTensor cut(const CodeTensor& tensor, const Cut& part);
// Where the elements of cut(tensor, part) stand in the tensor.
Places places_of(const CodeTensor& tensor, const Cut& part);

// The tensor whose element to[i] is the element i of this one.
CodeTensor moved(const CodeTensor& tensor, const Places& to);

// Row r goes to row (r + by) % rows, within each of `batches` equal parts.
Places rows_turned(const CodeTensor& tensor, std::int64_t by, std::int64_t batches = 1);

struct Answers {
    std::string_view what;  // "element", "scale", "value"
    const CodeTensor& first;
    const CodeTensor& second;
};

// Adds to what was compared; the first place that differs breaks the relation.
void compare(Finding& finding, const Answers& answers, const Places& second_of_first);
void compare(Finding& finding, const Answers& answers);

// For a relation of one place: counts it, and breaks where `holds` is false.
struct Place {
    std::string_view what;
    std::int64_t row = 0, column = 0;
    std::uint32_t first = 0, second = 0;
};
void expect(Finding& finding, bool holds, const Place& place);

// As a reader sees it: "2 x 3 f32 3f800000,..." up to some codes.
std::string text_of(const CodeTensor& tensor);
std::string text_of(const Quantized& blocks);

}  // namespace mx::relation
