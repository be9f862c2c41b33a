// Where in a tensor a fault may show and elsewhere not: one element of each block, odd rows, the
// last block of a line. Made from the problem alone.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cause/alteration.hpp"

namespace mx::cause {

inline constexpr std::size_t places_max = 128;
using PlaceSet = std::bitset<places_max>;  // by their order in the table

struct PlaceName {
    std::string kind, text;  // "odd_rows", "in odd rows"
};

// All there are, the same for every problem; at most places_max.
const std::vector<PlaceName>& place_names();

// Places that no tensor of one row or one block is all of. Where what would show everywhere was
// seen in one of them alone, no case tells the two apart.
inline constexpr std::array<std::string_view, 4> parts_of_tensors{"odd_rows", "odd_blocks",
                                                                  "odd_elements", "second_half"};
// Where lines have several blocks, likewise.
inline constexpr std::array<std::string_view, 2> ends_of_lines{"first_blocks", "last_blocks"};

// Of each output of the problem, by element: the places that it is part of. No sets where the
// problem has no blocks.
class Places {
public:
    // Rows of a tensor of `rows`, from `first` on.
    struct Rows {
        std::int64_t first, rows;
    };
    explicit Places(const Problem& p) : Places(p, {0, p.rows}) {}
    Places(const Problem& p, Rows rows);
    bool is_empty() const { return sets_.empty(); }
    const PlaceSet& at(std::size_t output, std::size_t element) const {
        return sets_[output][element];
    }

private:
    std::vector<std::vector<PlaceSet>> sets_;
};

// An alteration in one place, or everywhere.
struct Placed {
    const Alteration* alteration = nullptr;
    std::size_t place = places_max;
    bool is_everywhere() const { return place == places_max; }
    std::string kind() const;  // "ties:up@odd_rows"
};
Tensors answer_with(std::span<const Placed> alterations, const Places& places, const Problem& p,
                    const Tensors& inputs);

// From "ties:up@odd_rows", or from "ties:up".
struct PlacedKind {
    std::string alteration;
    std::size_t place = places_max;
};
PlacedKind read_placed_kind(const std::string& kind);

}  // namespace mx::cause
