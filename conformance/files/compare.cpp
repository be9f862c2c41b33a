// See compare.hpp.
#include "conformance/files/compare.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>

#include "reference/base/hex.hpp"
#include "reference/base/parallel.hpp"
#include "reference/base/text.hpp"

namespace mx::files {
namespace {

constexpr std::int64_t block_max = 32;
constexpr std::size_t places_kept = 48;
using Values = std::array<double, block_max>;

// One side of a comparison: a reading with the tile that is read of it.
class Side {
public:
    explicit Side(const Reading& reading)
        : reader_(reading.view), is_transposed_(reading.is_transposed) {}

    // The area in rows and columns of the reading.
    Status read(const Area& area) {
        area_ = area;
        if (!is_transposed_) return reader_.read(area, tile_);
        const std::int64_t step = column_step(reader_.view());
        before_ = area.row % step;
        return reader_.read({area.column, area.columns, area.row - before_, area.rows + before_},
                            tile_);
    }

    void values(std::int64_t row, std::int64_t column, std::int64_t count, double* into) const {
        if (!is_transposed_) return reader_.values(tile_, row, column, count, into);
        for (std::int64_t i = 0; i < count; ++i)
            reader_.values(tile_, column + i, row + before_, 1, into + i);
    }

    bool has_codes() const { return !is_transposed_; }
    const std::uint8_t* codes(std::int64_t row, std::int64_t column) const {
        return tile_.codes.data() + row * area_.columns + column;
    }
    std::uint32_t scale(std::int64_t row, std::int64_t column) const {
        return tile_.scale_of(row, column);
    }
    // One scale for all of a block?
    bool shares_scale(std::int64_t count) const { return tile_.run >= count; }
    const TileReader& reader() const { return reader_; }

private:
    TileReader reader_;
    bool is_transposed_;
    std::int64_t before_ = 0;
    Area area_;
    Tile tile_;
};

bool is_same_value(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

bool have_same_codes(const Reading& a, const Reading& b) {
    return !a.is_transposed && !b.is_transposed && a.view.element == b.view.element &&
           a.view.scale == b.view.scale && a.view.use == b.view.use &&
           (a.view.use == GlobalUse::none || a.view.global_value == b.view.global_value);
}

// Are the block's codes and scales the same, so that its values need not be made?
bool is_same_block(const Side& a, const Side& b, Place at, std::int64_t count) {
    if (std::memcmp(a.codes(at.row, at.column), b.codes(at.row, at.column),
                    static_cast<std::size_t>(count)) != 0)
        return false;
    if (a.shares_scale(count) && b.shares_scale(count))
        return a.scale(at.row, at.column) == b.scale(at.row, at.column);
    for (std::int64_t i = 0; i < count; ++i)
        if (a.scale(at.row, at.column + i) != b.scale(at.row, at.column + i)) return false;
    return true;
}

// The places of the magnitudes of a format's codes in the order of their values: a NaN has none.
int order_of_code(const ElementFormat& format, std::uint8_t code) {
    const Code bits{code};
    const auto magnitude = static_cast<int>(format.magnitude(bits));
    return format.is_negative(bits) ? -magnitude : magnitude;
}

struct Interval {
    double low = 0, high = 0;
};

// What rounds to a code to nearest, whatever happens to ties; beyond the largest there is no end.
Interval interval_of(const TileReader& reader, std::uint8_t code, double scale) {
    const ElementFormat& format = reader.view().element;
    const auto magnitude = format.magnitude(Code{code});
    const double value = std::fabs(reader.element_value(code));
    const auto value_at = [&](std::uint32_t m) {
        return reader.element_value(static_cast<std::uint8_t>(format.positive(m).bits));
    };
    const double below = magnitude == 0 ? -value_at(1) : value_at(magnitude - 1);
    const double above = magnitude >= format.code_max_finite()
                             ? std::numeric_limits<double>::infinity()
                             : value_at(magnitude + 1);
    Interval interval{(below + value) / 2 * scale, (value + above) / 2 * scale};
    if (format.is_negative(Code{code})) interval = {-interval.high, -interval.low};
    return interval;
}

// Judges the blocks of a tile.
class Judge {
public:
    Judge(const Reading& a, const Reading& b) : a_(a), b_(b), has_codes_(have_same_codes(a, b)) {}

    Status read(const Area& area) {
        if (const Status s = a_.read(area); !s) return s;
        return b_.read(area);
    }

    // Do the values of the block agree? With the values of both where it was not plain.
    bool agrees(Place at, std::int64_t count) {
        is_plain_ = has_codes_ && is_same_block(a_, b_, at, count);
        if (is_plain_) return true;
        a_.values(at.row, at.column, count, values_a_.data());
        b_.values(at.row, at.column, count, values_b_.data());
        return std::equal(values_a_.begin(), values_a_.begin() + count, values_b_.begin(),
                          is_same_value);
    }

    void count(Place at, std::int64_t count, Comparison& result) {
        ++result.blocks;
        result.elements += static_cast<std::uint64_t>(count);
        if (agrees(at, count)) {
            if (!is_plain_) count_recoded(count, result);
            return;
        }
        ++result.different_blocks;
        for (std::int64_t i = 0; i < count; ++i)
            if (!is_same_value(values_a_[at_(i)], values_b_[at_(i)])) ++result.different_elements;
        if (has_codes_ && a_.shares_scale(count) && b_.shares_scale(count))
            classify(at, count, result.kinds);
        else
            ++result.kinds.other;
    }

private:
    static std::size_t at_(std::int64_t i) { return static_cast<std::size_t>(i); }

    void count_recoded(std::int64_t count, Comparison& result) const {
        std::uint64_t zeros = 0;
        for (std::int64_t i = 0; i < count; ++i)
            if (values_a_[at_(i)] == 0 &&
                std::signbit(values_a_[at_(i)]) != std::signbit(values_b_[at_(i)]))
                ++zeros;
        result.zero_signs += zeros;
        if (has_codes_) ++result.recoded;
    }

    void classify(Place at, std::int64_t count, Differences& kinds) const {
        const std::uint32_t scale_a = a_.scale(at.row, at.column),
                            scale_b = b_.scale(at.row, at.column);
        const bool fits =
            scale_a == scale_b ? is_neighbour(at, count, kinds) : can_be_one_original(at, count);
        if (!fits) {
            ++kinds.other;
        } else if (scale_a == scale_b) {
            ++kinds.neighbours;
        } else {
            ++kinds.scale_rule;
            const bool is_up = b_.reader().scale_value(scale_b) > a_.reader().scale_value(scale_a);
            ++(is_up ? kinds.scale_up : kinds.scale_down);
        }
    }

    bool is_neighbour(Place at, std::int64_t count, Differences& kinds) const {
        const ElementFormat& format = a_.reader().view().element;
        const std::uint8_t *codes_a = a_.codes(at.row, at.column),
                           *codes_b = b_.codes(at.row, at.column);
        std::uint64_t toward = 0, away = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            if (is_same_value(values_a_[at_(i)], values_b_[at_(i)])) continue;
            const int from = order_of_code(format, codes_a[i]),
                      to = order_of_code(format, codes_b[i]);
            if (std::abs(from - to) != 1) return false;
            ++(std::abs(to) < std::abs(from) ? toward : away);
        }
        kinds.toward_zero += toward;
        kinds.away += away;
        return true;
    }

    bool can_be_one_original(Place at, std::int64_t count) const {
        const double scale_a = a_.reader().scale_value(a_.scale(at.row, at.column));
        const double scale_b = b_.reader().scale_value(b_.scale(at.row, at.column));
        for (std::int64_t i = 0; i < count; ++i) {
            const std::uint8_t code_a = a_.codes(at.row, at.column)[i],
                               code_b = b_.codes(at.row, at.column)[i];
            if (!std::isfinite(values_a_[at_(i)]) || !std::isfinite(values_b_[at_(i)]))
                return false;
            const Interval one = interval_of(a_.reader(), code_a, scale_a),
                           other = interval_of(b_.reader(), code_b, scale_b);
            if (one.low > other.high || other.low > one.high) return false;
        }
        return true;
    }

    Side a_, b_;
    bool has_codes_;
    bool is_plain_ = false;
    Values values_a_{}, values_b_{};
};

// Tiles that cover the common area, dealt out to threads. `work(area)` is called by one thread at a
// time for each area, with the state that `make` made for the thread.
class Tiles {
public:
    Tiles(Shape common, const Reading& a, const Reading& b) : common_(common) {
        const bool turns = a.is_transposed || b.is_transposed;
        constexpr std::int64_t elements = 1 << 18;
        columns_ = std::min<std::int64_t>(std::max<std::int64_t>(common.columns, 1),
                                          turns ? 512 : 1 << 16);
        const std::int64_t rows = std::max<std::int64_t>(elements / columns_, 1);
        // Whole tiles of 128 x 128 and less.
        rows_ = turns ? 512 : std::max<std::int64_t>(rows / 128 * 128, 128);
        if (reads_anywhere(a.view) && reads_anywhere(b.view))
            threads_ = static_cast<unsigned>(threads_for_cores());
    }

    template <typename State, typename Make, typename Work>
    Status run(std::vector<State>& states, const Make& make, const Work& work) const {
        const std::int64_t across = (common_.columns + columns_ - 1) / columns_;
        const std::int64_t down = (common_.rows + rows_ - 1) / rows_;
        const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(across * down, 1));
        const auto threads = static_cast<unsigned>(std::min<std::uint64_t>(threads_, count));
        for (unsigned i = 0; i < threads; ++i) states.push_back(make());
        std::atomic<std::int64_t> next{0};
        std::mutex mutex;
        Status result = success();
        const auto loop = [&](State& state) {
            for (std::int64_t i = next++; i < across * down; i = next++) {
                const Area area{i / across * rows_, 0, i % across * columns_, 0};
                Status done = work(state, cut(area));
                if (done) continue;
                const std::lock_guard<std::mutex> lock(mutex);
                if (result) result = std::move(done);
                next = across * down;
            }
        };
        std::vector<std::thread> others;
        for (unsigned i = 1; i < threads; ++i) others.emplace_back([&, i] { loop(states[i]); });
        loop(states[0]);
        for (std::thread& thread : others) thread.join();
        return result;
    }

private:
    Area cut(Area area) const {
        area.rows = std::min(rows_, common_.rows - area.row);
        area.columns = std::min(columns_, common_.columns - area.column);
        return area;
    }

    Shape common_;
    std::int64_t rows_ = 1, columns_ = 1;
    unsigned threads_ = 1;
};

template <typename Visit>
void for_each_block(const Area& area, std::int64_t block, const Visit& visit) {
    for (std::int64_t row = 0; row < area.rows; ++row)
        for (std::int64_t column = 0; column < area.columns; column += block)
            visit(Place{row, column}, std::min(block, area.columns - column));
}

struct CompareState {
    Judge judge;
    Comparison result = {};
};

void add(const Comparison& from, Comparison& to) {
    to.blocks += from.blocks;
    to.elements += from.elements;
    to.recoded += from.recoded;
    to.zero_signs += from.zero_signs;
    to.different_blocks += from.different_blocks;
    to.different_elements += from.different_elements;
    to.kinds.neighbours += from.kinds.neighbours;
    to.kinds.scale_rule += from.kinds.scale_rule;
    to.kinds.other += from.kinds.other;
    to.kinds.toward_zero += from.kinds.toward_zero;
    to.kinds.away += from.kinds.away;
    to.kinds.scale_up += from.kinds.scale_up;
    to.kinds.scale_down += from.kinds.scale_down;
    to.places.insert(to.places.end(), from.places.begin(), from.places.end());
}

// Some of all over, in their order.
void thin_out(std::vector<Place>& places) {
    std::sort(places.begin(), places.end(), [](Place a, Place b) {
        return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    if (places.size() <= places_kept) return;
    std::vector<Place> kept;
    for (std::size_t i = 0; i < places_kept; ++i)
        kept.push_back(places[i * places.size() / places_kept]);
    places = std::move(kept);
}

struct TrialState {
    Judge before, after;
    Explained result = {};
};

Status try_area(TrialState& state, const Area& area, std::int64_t block) {
    if (const Status s = state.before.read(area); !s) return s;
    if (const Status s = state.after.read(area); !s) return s;
    for_each_block(area, block, [&](Place at, std::int64_t count) {
        const bool is_equal = state.before.agrees(at, count);
        const bool is_equal_then = state.after.agrees(at, count);
        if (!is_equal) ++state.result.different;
        if (!is_equal && is_equal_then) ++state.result.explained;
        if (is_equal && !is_equal_then) ++state.result.parted;
    });
    return success();
}

void add(const Explained& from, Explained& to) {
    to.different += from.different;
    to.explained += from.explained;
    to.parted += from.parted;
}

TrialState state_of(const Trial& trial) {
    return {Judge(trial.a, trial.b), Judge(trial.other_a, trial.other_b)};
}

}  // namespace

std::int64_t block_of(const Reading& a, const Reading& b) {
    const bool is_small = a.view.block_columns == 16 || b.view.block_columns == 16;
    return is_small ? 16 : block_max;
}

Expected<Comparison> compare(const Reading& a, const Reading& b, Shape common) {
    const std::int64_t block = block_of(a, b);
    std::vector<CompareState> states;
    const Status done =
        Tiles(common, a, b)
            .run(
                states, [&] { return CompareState{Judge(a, b)}; },
                [&](CompareState& state, const Area& area) -> Status {
                    if (const Status s = state.judge.read(area); !s) return s;
                    std::uint64_t before = state.result.different_blocks;
                    std::size_t kept = 0;
                    for_each_block(area, block, [&](Place at, std::int64_t count) {
                        state.judge.count(at, count, state.result);
                        if (state.result.different_blocks == before || kept == 4) return;
                        // Not always the first columns: scales in a wrong order may agree there.
                        before = state.result.different_blocks;
                        if (kept != 0 && state.result.places.back().row == area.row + at.row)
                            return;
                        state.result.places.push_back({area.row + at.row, area.column + at.column});
                        ++kept;
                    });
                    if (state.result.places.size() > 4096) thin_out(state.result.places);
                    return success();
                });
    if (!done) return done.error();
    Comparison result;
    for (const CompareState& state : states) add(state.result, result);
    thin_out(result.places);
    return result;
}

namespace {

// Sets of blocks whose amax may be shared, as rows of elements by blocks of a row.
struct AmaxSet {
    std::string name;
    std::int64_t rows, blocks;
};

struct AmaxState {
    Side a, b;
    std::vector<std::array<bool, 2>> holds;  // for each set: of A's scales, of B's
    std::array<double, 2> least{HUGE_VAL, HUGE_VAL}, most{0, 0};  // of all scales
};

double scale_at(const Side& side, std::int64_t row, std::int64_t column) {
    return side.reader().scale_value(side.scale(row, column));
}

// Is the scale of `one`, at each place of the set, the largest of `other` there?
bool takes_largest(const Side& one, const Side& other, const Area& set, std::int64_t block) {
    double largest = 0;
    for (std::int64_t row = set.row; row < set.row + set.rows; ++row)
        for (std::int64_t c = set.column; c < set.column + set.columns; c += block)
            largest = std::max(largest, scale_at(other, row, c));
    for (std::int64_t row = set.row; row < set.row + set.rows; ++row)
        for (std::int64_t c = set.column; c < set.column + set.columns; c += block)
            if (scale_at(one, row, c) != largest) return false;
    return true;
}

void hold_set(AmaxState& state, std::size_t index, const AmaxSet& set, const Area& area,
              std::int64_t block) {
    const std::int64_t wide = set.blocks == 0 ? area.columns : set.blocks * block;
    for (std::int64_t row = 0; row < area.rows; row += set.rows)
        for (std::int64_t column = 0; column < area.columns; column += wide) {
            const Area part{row, std::min(set.rows, area.rows - row), column,
                            std::min(wide, area.columns - column)};
            auto& [of_a, of_b] = state.holds[index];
            of_a = of_a && takes_largest(state.a, state.b, part, block);
            of_b = of_b && takes_largest(state.b, state.a, part, block);
            if (!of_a && !of_b) return;
        }
}

void note_range(AmaxState& state, const Area& area, std::int64_t block) {
    for (std::int64_t row = 0; row < area.rows; ++row)
        for (std::int64_t column = 0; column < area.columns; column += block) {
            const std::array scales{scale_at(state.a, row, column), scale_at(state.b, row, column)};
            for (std::size_t side = 0; side < 2; ++side) {
                state.least[side] = std::min(state.least[side], scales[side]);
                state.most[side] = std::max(state.most[side], scales[side]);
            }
        }
}

}  // namespace

Expected<std::string> shared_amax(const Reading& a, const Reading& b, Shape common) {
    const std::int64_t block = a.view.block_columns;
    const bool is_plain = have_same_codes(a, b) && block == b.view.block_columns &&
                          a.view.block_rows == 1 && b.view.block_rows == 1 && block > 1 &&
                          block <= 128;
    if (!is_plain) return std::string();
    const std::string side = std::to_string(block);
    const std::vector<AmaxSet> sets{{"2 blocks of a row", 1, 2},
                                    {"4 blocks of a row", 1, 4},
                                    {"a tile of " + side + " x " + side, block, 1},
                                    {"the row", 1, 0}};
    std::vector<AmaxState> states;
    const Tiles tiles(common, a, b);
    const Status done = tiles.run(
        states,
        [&] {
            return AmaxState{Side(a), Side(b),
                             std::vector<std::array<bool, 2>>(sets.size(), {true, true})};
        },
        [&](AmaxState& state, const Area& area) -> Status {
            if (const Status s = state.a.read(area); !s) return s;
            if (const Status s = state.b.read(area); !s) return s;
            for (std::size_t i = 0; i < sets.size(); ++i) hold_set(state, i, sets[i], area, block);
            note_range(state, area, block);
            return success();
        });
    if (!done) return done.error();
    AmaxState& all = states.front();
    for (const AmaxState& state : states)
        for (std::size_t side_index = 0; side_index < 2; ++side_index) {
            for (std::size_t i = 0; i < sets.size(); ++i)
                all.holds[i][side_index] = all.holds[i][side_index] && state.holds[i][side_index];
            all.least[side_index] = std::min(all.least[side_index], state.least[side_index]);
            all.most[side_index] = std::max(all.most[side_index], state.most[side_index]);
        }
    for (const std::size_t side_index : {1u, 0u}) {
        const std::string who = side_index == 1 ? "B" : "A";
        for (std::size_t i = 0; i < sets.size(); ++i)
            if (all.holds[i][side_index]) return who + " takes the amax of " + sets[i].name;
        if (all.least[side_index] == all.most[side_index] &&
            all.most[side_index] == all.most[1 - side_index])
            return who + " takes the amax of the whole tensor";
    }
    return std::string();
}

Expected<Explained> try_readings(const Trial& trial, Shape common) {
    const std::int64_t block = block_of(trial.a, trial.b);
    std::vector<TrialState> states;
    const Tiles tiles(common, trial.other_a, trial.other_b);
    const Status done = tiles.run(
        states, [&] { return state_of(trial); },
        [&](TrialState& state, const Area& area) { return try_area(state, area, block); });
    if (!done) return done.error();
    Explained result;
    for (const TrialState& state : states) add(state.result, result);
    return result;
}

Expected<Explained> try_at(const Trial& trial, Shape common, const std::vector<Place>& places) {
    const bool turns = trial.other_a.is_transposed || trial.other_b.is_transposed;
    const std::int64_t wide = turns ? 128 : 1024;
    const std::int64_t step =
        std::max({column_step(trial.a.view), column_step(trial.b.view),
                  column_step(trial.other_a.view), column_step(trial.other_b.view)});
    TrialState state = state_of(trial);
    std::size_t seen = 0;
    for (const Place& place : places) {
        if (turns && ++seen > 8) break;
        Area area{place.row, 1, place.column / step * step, 0};
        area.columns = std::min(wide, common.columns - area.column);
        if (const Status s = try_area(state, area, block_of(trial.a, trial.b)); !s)
            return s.error();
    }
    return state.result;
}

Expected<bool> equal_bytes(const data::ListedTensor& a, const data::ListedTensor& b) {
    if (a.size() != b.size()) return false;
    constexpr std::uint64_t piece = 1u << 20;
    std::vector<std::byte> bytes_a, bytes_b;
    for (std::uint64_t at = 0; at < a.size(); at += piece) {
        const auto length = std::min(piece, a.size() - at);
        bytes_a.resize(length);
        bytes_b.resize(length);
        if (const Status s = data::read_bytes(a, at, bytes_a); !s) return s.error();
        if (const Status s = data::read_bytes(b, at, bytes_b); !s) return s.error();
        if (std::memcmp(bytes_a.data(), bytes_b.data(), length) != 0) return false;
    }
    return true;
}

namespace {

std::string side_text(const Side& side, Place at, std::int64_t count) {
    const std::int64_t shown = std::min<std::int64_t>(count, 16);
    std::string text = "values";
    if (side.has_codes()) {
        const int digits = side.reader().view().scale.code_bits() / 4;
        text = "scale 0x" + hex(side.scale(at.row, at.column), digits) + ", elements";
    }
    const int element_digits = side.reader().view().element.code_bits() > 4 ? 2 : 1;
    Values values;
    side.values(at.row, at.column, count, values.data());
    for (std::int64_t i = 0; i < shown; ++i)
        text += " " + (side.has_codes() ? hex(side.codes(at.row, at.column)[i], element_digits)
                                        : four_digits(values[static_cast<std::size_t>(i)]));
    return text + (count > shown ? " ..." : "");
}

}  // namespace

Expected<std::string> block_text(const Reading& a, const Reading& b, Place place) {
    const std::int64_t step = std::max(column_step(a.view), column_step(b.view));
    const std::int64_t begin = place.column / step * step;
    const std::int64_t count = std::min(block_of(a, b), a.columns() - place.column);
    Side one(a), other(b);
    const Area area{place.row, 1, begin, place.column - begin + count};
    for (Side* side : {&one, &other})
        if (const Status s = side->read(area); !s) return s.error();
    const Place at{0, place.column - begin};
    const std::string which = "row " + std::to_string(place.row) + ", columns " +
                              std::to_string(place.column) + " to " +
                              std::to_string(place.column + count - 1);
    return which + "\n    A: " + side_text(one, at, count) +
           "\n    B: " + side_text(other, at, count);
}

}  // namespace mx::files
