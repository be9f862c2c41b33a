// What a search goes round in: an operation on a format in a dialect from a type, and for each
// round a case of it with axis, blocks, layout and shape drawn at random. Draws no data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/case/case.hpp"
#include "fuzz/search/random.hpp"

namespace mx::fuzz {

// Names, or globs of names; an empty list stands for all.
struct Filter {
    std::vector<std::string> operations;
    std::vector<std::string> formats;
    std::vector<std::string> dialects;
    std::vector<std::string> types;
};

// A case whose operation, format, dialect and type count; the rest is plain.
std::vector<Case> list_themes(const Filter& filter);

// "quantize mxfp8-e4m3 ocp f32"
std::string name_of_theme(const Case& c);

// The theme with everything else drawn: about `elements` elements in rows and columns.
Case draw_case(const Case& theme, std::int64_t elements, Random& random);

// The same in the plainest layout, which devices are most likely to have.
Case plain_case(const Case& drawn);

}  // namespace mx::fuzz
