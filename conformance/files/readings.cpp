// See readings.hpp.
#include "conformance/files/readings.hpp"

#include <algorithm>
#include <array>

#include "reference/fast/pack.hpp"

namespace mx::files {
namespace {

// One side read in another way; "" of the way it stands.
struct Change {
    Reading reading;
    std::string cause;
};

std::string_view name_of(ScalePlace place) {
    switch (place) {
        case ScalePlace::linear:
            return "linear";
        case ScalePlace::tiles_128x4:
            return "swizzled (128x4)";
        case ScalePlace::tiles_128x4_twice:
            return "swizzled (128x4) twice";
        case ScalePlace::tiles_8x4:
            return "swizzled (8x4)";
        case ScalePlace::tiles_32x8:
            return "swizzled (32x8)";
        case ScalePlace::te_padded:
            return "padded to 128x4";
        case ScalePlace::transposed:
            return "transposed";
    }
    return "";
}

std::string_view name_of(CodeOrder order) {
    switch (order) {
        case CodeOrder::low_first:
            return "the first element of a pair in the low half";
        case CodeOrder::high_first:
            return "the first element of a pair in the high half";
        case CodeOrder::halves:
            return "elements j and j + half a block in one byte, as ggml has them";
        default:
            return "";
    }
}

// Are there bytes enough for the scales in this order?
bool has_scales_for(const View& view, ScalePlace place) {
    if (!view.scales || view.scale.code_bits() != 8) return false;
    const GridShape grid{view.grid_rows(), view.grid_columns()};
    std::int64_t needed = grid.rows * grid.columns;
    const bool is_tiled = place != ScalePlace::linear && place != ScalePlace::transposed;
    const BlockAxis axis = view.block_columns == 1 ? BlockAxis::col : BlockAxis::row;
    constexpr std::array storages{
        std::pair{ScalePlace::tiles_128x4, ScaleStorage::tiles_128x4},
        std::pair{ScalePlace::tiles_128x4_twice, ScaleStorage::tiles_128x4},
        std::pair{ScalePlace::tiles_8x4, ScaleStorage::tiles_8x4},
        std::pair{ScalePlace::tiles_32x8, ScaleStorage::tiles_32x8},
        std::pair{ScalePlace::te_padded, ScaleStorage::te_padded}};
    for (const auto& [known, storage] : storages)
        if (is_tiled && known == place)
            needed = fast::scale_bytes(*scale_layout_for(storage, axis), grid);
    return static_cast<std::uint64_t>(needed) <= view.scales->size();
}

std::vector<Change> with_other_codes(const Reading& b) {
    std::vector<Change> changes{{b, ""}};
    if (b.view.element.code_bits() != 4) return changes;
    for (const CodeOrder order : {CodeOrder::low_first, CodeOrder::high_first, CodeOrder::halves}) {
        if (order == b.view.order) continue;
        if (order == CodeOrder::halves && b.view.columns % b.view.block_columns != 0) continue;
        Change change{b, "B has " + std::string(name_of(order)) + ", where its layout has " +
                             std::string(name_of(b.view.order))};
        const auto is_pair = [](CodeOrder o) { return o != CodeOrder::halves; };
        if (is_pair(order) && is_pair(b.view.order))
            change.cause = "B has the nibbles of each byte the other way round (" +
                           std::string(name_of(order)) + ")";
        change.reading.view.order = order;
        changes.push_back(std::move(change));
    }
    return changes;
}

std::vector<Change> with_other_places(const Reading& side, const std::string& name) {
    std::vector<Change> changes;
    for (const ScalePlace place :
         {ScalePlace::linear, ScalePlace::tiles_128x4, ScalePlace::tiles_128x4_twice,
          ScalePlace::tiles_8x4, ScalePlace::tiles_32x8, ScalePlace::te_padded,
          ScalePlace::transposed}) {
        if (place == side.view.place || !has_scales_for(side.view, place)) continue;
        Change change{side, name + "'s scales are " + std::string(name_of(place)) +
                                ", where they are read as " +
                                std::string(name_of(side.view.place))};
        change.reading.view.place = place;
        changes.push_back(std::move(change));
    }
    return changes;
}

struct NumberChange {
    GlobalUse a, b;
    std::string cause;
};

// The uses of the numbers of both tensors.
std::vector<NumberChange> number_changes(const View& a, const View& b) {
    std::vector<NumberChange> changes{{a.use, b.use, ""}};
    if (b.use != GlobalUse::none) {
        const bool divides = b.use == GlobalUse::divided;
        changes.push_back({a.use, divides ? GlobalUse::times : GlobalUse::divided,
                           std::string("B's global scale is inverted: to be ") +
                               (divides ? "multiplied by" : "divided by")});
        changes.push_back({a.use, GlobalUse::none, "B's global scale is in its scales already"});
    }
    if (a.use != GlobalUse::none)
        changes.push_back({GlobalUse::none, b.use,
                           b.use == GlobalUse::none ? "B lacks the global scale that A has"
                                                    : "A's global scale is in its scales already"});
    if (a.use != GlobalUse::none && b.use != GlobalUse::none)
        changes.push_back(
            {GlobalUse::none, GlobalUse::none, "the global scales differ, and nothing else"});
    return changes;
}

void append_cause(OtherReading& reading, const std::string& cause) {
    if (cause.empty()) return;
    ++reading.changes;
    reading.cause += (reading.cause.empty() ? "" : "; ") + cause;
}

}  // namespace

bool cancel_numbers(Reading& a, Reading& b) {
    if (a.view.use == GlobalUse::none || b.view.use == GlobalUse::none) return false;
    const auto inverse = [](double value) {
        return static_cast<double>(1.0f / static_cast<float>(value));
    };
    const double one = a.view.global_value, other = b.view.global_value;
    const bool is_same = a.view.use == b.view.use && one == other;
    const bool is_inverse =
        a.view.use != b.view.use && (inverse(one) == other || inverse(other) == one);
    if (is_same || is_inverse) a.view.use = b.view.use = GlobalUse::none;
    return is_inverse;
}

std::vector<OtherReading> other_readings(const Reading& a, const Reading& b) {
    // The scales of one side are in another order, never those of both.
    std::vector<std::pair<Change, Change>> sides;
    for (const Change& codes : with_other_codes(b)) {
        sides.push_back({{a, ""}, codes});
        for (Change& place : with_other_places(codes.reading, "B")) {
            place.cause = codes.cause.empty() ? place.cause : codes.cause + "; " + place.cause;
            sides.push_back({{a, ""}, place});
        }
        for (const Change& place : with_other_places(a, "A")) sides.push_back({place, codes});
    }
    std::vector<OtherReading> all;
    const bool can_turn = a.rows() == a.columns() && !b.is_transposed;
    for (const bool turns : {false, true}) {
        if (turns && !can_turn) continue;
        for (const auto& [side_a, side_b] : sides)
            for (const NumberChange& number : number_changes(a.view, b.view)) {
                OtherReading other{side_a.reading, side_b.reading, 0, ""};
                other.a.view.use = number.a;
                other.b.view.use = number.b;
                other.b.is_transposed = b.is_transposed || turns;
                if (turns) append_cause(other, "B is A transposed");
                append_cause(other, side_a.cause);
                append_cause(other, side_b.cause);
                append_cause(other, number.cause);
                other.changes += side_b.cause.find("; ") != std::string::npos ? 1 : 0;
                if (other.changes != 0) all.push_back(std::move(other));
            }
    }
    std::stable_sort(all.begin(), all.end(), [](const OtherReading& x, const OtherReading& y) {
        return x.changes < y.changes;
    });
    return all;
}

}  // namespace mx::files
