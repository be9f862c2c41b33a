// See places.hpp.
#include "conformance/cause/places.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace mx::cause {
namespace {

// What the places are read from.
struct Spot {
    std::int64_t row = 0, rows = 1;
    std::int64_t block = 0, blocks = 1;  // in its line
    bool is_short = false;               // the block
    int element = -1;                    // of the block; -1: its scale
    std::int64_t lanes = 0;
};

struct Rule {
    std::string_view kind, text;
    bool (*holds)(const Spot& at);
};
constexpr std::array rules{
    Rule{"odd_elements", "in odd elements",
         [](const Spot& at) { return at.element >= 0 && at.element % 2 == 1; }},
    Rule{"even_elements", "in even elements",
         [](const Spot& at) { return at.element >= 0 && at.element % 2 == 0; }},
    Rule{"first_half", "in the first half of a block",
         [](const Spot& at) { return at.element >= 0 && at.element < at.lanes / 2; }},
    Rule{"second_half", "in the second half of a block",
         [](const Spot& at) { return at.element >= at.lanes / 2; }},
    Rule{"elements", "in elements, not in scales", [](const Spot& at) { return at.element >= 0; }},
    Rule{"scales", "in stored scales alone", [](const Spot& at) { return at.element < 0; }},
    Rule{"odd_rows", "in odd rows", [](const Spot& at) { return at.row % 2 == 1; }},
    Rule{"even_rows", "in even rows", [](const Spot& at) { return at.row % 2 == 0; }},
    Rule{"first_row", "in the first row", [](const Spot& at) { return at.row == 0; }},
    Rule{"last_row", "in the last row", [](const Spot& at) { return at.row == at.rows - 1; }},
    Rule{"later_rows", "in all rows but the first", [](const Spot& at) { return at.row > 0; }},
    Rule{"odd_blocks", "in odd blocks of a line", [](const Spot& at) { return at.block % 2 == 1; }},
    Rule{"even_blocks", "in even blocks of a line",
         [](const Spot& at) { return at.block % 2 == 0; }},
    Rule{"first_blocks", "in the first block of a line",
         [](const Spot& at) { return at.block == 0; }},
    Rule{"later_blocks", "in all blocks of a line but the first",
         [](const Spot& at) { return at.block > 0; }},
    Rule{"last_blocks", "in the last block of a line",
         [](const Spot& at) { return at.block == at.blocks - 1; }},
    Rule{"short_blocks", "in blocks cut short", [](const Spot& at) { return at.is_short; }},
    Rule{"whole_blocks", "in whole blocks", [](const Spot& at) { return !at.is_short; }},
};
constexpr int single_elements = 64;
static_assert(rules.size() + single_elements <= places_max);

PlaceSet set_of(const Spot& at) {
    PlaceSet set;
    for (std::size_t i = 0; i < rules.size(); ++i) set[i] = rules[i].holds(at);
    if (at.element >= 0 && at.element < single_elements)
        set[rules.size() + static_cast<std::size_t>(at.element)] = true;
    return set;
}

std::vector<PlaceSet> sets_of(const Problem& p, Part part, Places::Rows rows) {
    const Blocking blocking = blocking_of(p);
    const BlockGrid grid = block_grid(blocking);
    const bool goes_down = p.axis == BlockAxis::col;
    const bool is_scale = part == Part::scales;
    std::vector<PlaceSet> sets(
        static_cast<std::size_t>(is_scale ? grid.count() : p.rows * p.columns));
    for (std::int64_t block = 0; block < grid.count(); ++block) {
        const BlockPlace place = place_of(blocking, block);
        Spot at;
        at.rows = rows.rows;
        at.block = goes_down ? block / grid.block_columns : block % grid.block_columns;
        at.blocks = goes_down ? grid.block_rows : grid.block_columns;
        at.lanes = lanes_of(blocking);
        at.is_short = place.count < at.lanes;
        at.row = rows.first + static_cast<std::int64_t>(place.first) / p.columns;
        if (is_scale) sets[static_cast<std::size_t>(block)] = set_of(at);
        for (int lane = 0; !is_scale && lane < place.count; ++lane) {
            at.element = lane;
            at.row = rows.first + static_cast<std::int64_t>(place.element(lane)) / p.columns;
            sets[place.element(lane)] = set_of(at);
        }
    }
    return sets;
}

}  // namespace

const std::vector<PlaceName>& place_names() {
    static const std::vector<PlaceName> names = [] {
        std::vector<PlaceName> all;
        for (const Rule& rule : rules)
            all.push_back({std::string(rule.kind), std::string(rule.text)});
        for (int i = 0; i < single_elements; ++i)
            all.push_back({"element_" + std::to_string(i),
                           "in element " + std::to_string(i) + " of a block"});
        return all;
    }();
    return names;
}

PlacedKind read_placed_kind(const std::string& kind) {
    const std::size_t at = kind.find('@');
    if (at == std::string::npos) return {kind};
    const auto found = std::ranges::find(place_names(), kind.substr(at + 1), &PlaceName::kind);
    return {kind.substr(0, at), static_cast<std::size_t>(found - place_names().begin())};
}

Places::Places(const Problem& p, Rows rows) {
    if (!has_blocks(p) || element_count(p) == 0) return;
    for (const BlockAxis axis : axes_of(p)) {
        const Problem side = along(p, axis);
        for (const Part part : outputs_of(side)) {
            if (part == Part::tensor_number)
                sets_.emplace_back(1);
            else
                sets_.push_back(sets_of(side, part, rows));
        }
    }
}

std::string Placed::kind() const {
    return alteration->kind + (is_everywhere() ? "" : "@" + place_names()[place].kind);
}

Tensors answer_with(std::span<const Placed> alterations, const Places& places, const Problem& p,
                    const Tensors& inputs) {
    // By which of the alterations take part, a bit each.
    std::vector<Tensors> answers;
    for (std::size_t taking = 0; taking < std::size_t{1} << alterations.size(); ++taking) {
        std::vector<const Alteration*> some;
        bool is_asked = true;
        for (std::size_t i = 0; i < alterations.size(); ++i) {
            const bool takes = (taking >> i & 1) != 0;
            if (takes) some.push_back(alterations[i].alteration);
            is_asked = is_asked && (takes || !alterations[i].is_everywhere());
        }
        answers.push_back(is_asked ? answer_with(some, p, inputs) : Tensors{});
    }
    Tensors outputs = answers.back();
    const bool is_placed =
        std::ranges::any_of(alterations, [](const Placed& each) { return !each.is_everywhere(); });
    for (std::size_t output = 0; is_placed && output < outputs.size(); ++output)
        for (std::size_t at = 0; at < outputs[output].count(); ++at) {
            std::size_t taking = 0;
            for (std::size_t i = 0; i < alterations.size(); ++i)
                if (alterations[i].is_everywhere() || places.at(output, at)[alterations[i].place])
                    taking |= std::size_t{1} << i;
            outputs[output].set(at, answers[taking][output].at(at));
        }
    return outputs;
}

}  // namespace mx::cause
