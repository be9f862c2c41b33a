// See compare.hpp.
#include "conformance/relation/compare.hpp"

#include <algorithm>
#include <numeric>

#include "reference/base/hex.hpp"

namespace mx::relation {
namespace {

std::size_t at(const CodeTensor& tensor, std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(row * tensor.columns + column);
}

}  // namespace

Places same_places(const CodeTensor& tensor) {
    Places places(tensor.count());
    std::iota(places.begin(), places.end(), std::size_t{0});
    return places;
}

CodeTensor moved(const CodeTensor& tensor, const Places& to) {
    CodeTensor result = tensor;
    for (std::size_t i = 0; i < to.size(); ++i) result.set(to[i], tensor.at(i));
    return result;
}

Places transposed_places(const CodeTensor& tensor) {
    Places places;
    for (std::int64_t row = 0; row < tensor.rows; ++row)
        for (std::int64_t column = 0; column < tensor.columns; ++column)
            places.push_back(static_cast<std::size_t>(column * tensor.rows + row));
    return places;
}

CodeTensor transposed(const CodeTensor& tensor) {
    CodeTensor result = moved(tensor, transposed_places(tensor));
    std::swap(result.rows, result.columns);
    return result;
}

CodeTensor cut(const CodeTensor& tensor, const Cut& part) {
    CodeTensor result = make_tensor(tensor.type, part.rows, part.columns);
    for (std::int64_t row = 0; row < std::min(part.rows, tensor.rows - part.row); ++row)
        for (std::int64_t column = 0; column < std::min(part.columns, tensor.columns - part.column);
             ++column)
            result.set(at(result, row, column),
                       tensor.at(at(tensor, part.row + row, part.column + column)));
    return result;
}

Places places_of(const CodeTensor& tensor, const Cut& part) {
    Places places;
    for (std::int64_t row = 0; row < part.rows; ++row)
        for (std::int64_t column = 0; column < part.columns; ++column)
            places.push_back(at(tensor, part.row + row, part.column + column));
    return places;
}

Places rows_turned(const CodeTensor& tensor, std::int64_t by, std::int64_t batches) {
    const std::int64_t rows = std::max<std::int64_t>(tensor.rows / batches, 1);
    Places places;
    for (std::int64_t row = 0; row < tensor.rows; ++row)
        for (std::int64_t column = 0; column < tensor.columns; ++column)
            places.push_back(at(tensor, row / rows * rows + (row % rows + by) % rows, column));
    return places;
}

void expect(Finding& finding, bool holds, const Place& place) {
    ++finding.compared;
    if (holds || !finding.broken.empty()) return;
    finding.broken = std::string(place.what) + " (" + std::to_string(place.row) + ", " +
                     std::to_string(place.column) + ") is " + hex(place.first) +
                     " of the first input, and " + hex(place.second) + " of the second";
}

void compare(Finding& finding, const Answers& answers, const Places& second_of_first) {
    const CodeTensor& first = answers.first;
    for (std::size_t i = 0; i < second_of_first.size(); ++i) {
        const std::uint32_t one = first.at(i), other = answers.second.at(second_of_first[i]);
        const auto place = static_cast<std::int64_t>(i);
        expect(finding, one == other,
               {answers.what, place / first.columns, place % first.columns, one, other});
    }
}

void compare(Finding& finding, const Answers& answers) {
    compare(finding, answers, same_places(answers.first));
}

std::string text_of(const CodeTensor& tensor) {
    constexpr std::size_t shown = 96;
    std::string text = std::to_string(tensor.rows) + " x " + std::to_string(tensor.columns) + " " +
                       tensor.type + " ";
    for (std::size_t i = 0; i < std::min(tensor.count(), shown); ++i)
        text += (i == 0 ? "" : ",") + hex(tensor.at(i));
    return text + (tensor.count() > shown ? ",..." : "");
}

std::string text_of(const Quantized& blocks) {
    return text_of(blocks.elements) + " under scales " + text_of(blocks.scales);
}

}  // namespace mx::relation
