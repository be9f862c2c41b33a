// Which dialect gives these codes from those values? Every row of the quantizer table that can have
// made a tensor is asked for its blocks. Used by diff and identify; knows no names of checkpoints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/files/view.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::files {

struct Prediction {
    std::string dialect;
    std::uint64_t predicted = 0;  // blocks, scale and elements
    std::uint64_t scales = 0;     // blocks whose scale alone is right
    bool has_number = true;       // is the number of the tensor, if there is one, the dialect's?
    std::string witness;          // of the first block against it
};

// What else could have been decided, where no dialect predicts all: the nearest dialect with
// another rounding of elements, or another set of elements that the amax is taken of.
struct Variant {
    std::string text;  // "nv with elements rounded toward zero"
    std::uint64_t predicted = 0;
};

struct Predictions {
    std::uint64_t blocks = 0;                // that were asked, from all over the tensor
    std::vector<Prediction> rows;            // most blocks first
    std::vector<Variant> variants;           // that predict more than the first row, most first
    std::vector<std::string> names() const;  // of rows that predict every block
};

// As error: values of another shape or type, a format that no row quantizes to.
Expected<Predictions> predict(const View& view, const data::ListedTensor& values);

// "nv = te-specialised: all 4,096 blocks", or the nearest and its share.
std::string sentence_of(const Predictions& found);

// One block of a file, and the values that it was made of where they are given.
struct FileBlock {
    Area area;
    std::uint32_t scale = 0;
    std::vector<std::uint8_t> codes;
    std::vector<std::uint32_t> values;
    std::uint32_t tensor_amax = 0;  // of all values, a code of binary32
};

// `index` counts along rows of blocks. As error: a block that is not there, and what predict has.
Expected<FileBlock> block_at(const View& view, std::uint64_t index,
                             const data::ListedTensor* values);

// What the file has where a dialect gives another block from values of this type: "the file has
// scale 0x7f, not 0x80; element 3 0x5, not 0x2".
Expected<std::string> held_against(const View& view, const FileBlock& block,
                                   const std::string& type, const Quantizer& dialect);

// Values of a file as the quantizers read them: of the name, or the only one.
Expected<data::ListedTensor> find_values(const std::string& path, const std::string& name);

}  // namespace mx::files
