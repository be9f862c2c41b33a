// See exact_gemm.hpp. A tile is summed over all of K while its levels stay in the nearest cache.
#include "reference/gemm/exact_gemm.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <optional>

#include "reference/gemm/plan.hpp"
#include "reference/gemm/rounded_gemm.hpp"
#include "reference/gemm/settled_gemm.hpp"

namespace mx::gemm {
namespace {

// All loops take doubles that round to nearest, and numbers of binary32 below the normal ones that
// are not 0. The caller may have set that otherwise, as libraries do that flush such numbers for a
// whole process.
class UsualFloats {
public:
    UsualFloats() {
        std::fegetenv(&callers_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~UsualFloats() { std::fesetenv(&callers_); }
    UsualFloats(const UsualFloats&) = delete;
    UsualFloats& operator=(const UsualFloats&) = delete;

private:
    std::fenv_t callers_;
};

// A level that counts nothing, 1.5 * 2^(52 + unit): its mantissa is 1000... and stands for 0.
constexpr std::int64_t count_of_nothing = std::int64_t{1} << 51;

double level_of(int unit, std::int64_t count) {
    const auto mantissa = static_cast<std::uint64_t>(count_of_nothing + count);
    return std::bit_cast<double>(static_cast<std::uint64_t>(52 + unit + 1023) << 52 | mantissa);
}

std::int64_t count_of(double level) {
    const std::uint64_t mantissa =
        std::bit_cast<std::uint64_t>(level) & ((std::uint64_t{1} << 52) - 1);
    return static_cast<std::int64_t>(mantissa) - count_of_nothing;
}

// Rows of A and of B side by side, and where they lie in the whole.
struct ATile {
    std::vector<Panel> halves;
    std::size_t first;
    std::size_t rows;
};

struct BTile {
    Panel panel;
    std::size_t first;
    std::size_t columns;
};

// The sums of one tile on their way.
struct Sums {
    std::vector<TileStep> steps;
    AlignedBytes bytes;
    double* levels;
    int base;  // the exponent of the units of level 0
    int level_count;
};

class Multiplier {
public:
    Multiplier(const Kernel& kernel, const Factors& factors, const Receive& receive)
        : kernel_(kernel),
          factors_(factors),
          receive_(receive),
          plan_(plan_of(kernel, factors)),
          tile_numbers_(kernel.rows * kernel.columns) {}

    void run();

private:
    std::vector<ATile> empty_a_tiles() const;
    std::vector<BTile> empty_b_tiles() const;
    std::vector<Sums> empty_sums(std::size_t count) const;
    std::size_t fill_a(std::vector<ATile>& tiles, std::size_t first) const;
    std::size_t fill_b(std::vector<BTile>& tiles, std::size_t first) const;
    void multiply(const ATile& a, std::span<const BTile> b, std::vector<Sums>& sums) const;
    void add_steps(const ATile& a, const Panel& b, std::vector<TileStep>& steps) const;
    void place_steps(Sums& sums) const;
    void clear_levels(Sums& sums) const;
    void sum_steps(Sums& sums, std::size_t first, std::size_t end) const;
    void carry_levels(Sums& sums) const;
    void hand_over(const ATile& a, const BTile& b, const Sums& sums) const;

    const Kernel& kernel_;
    const Factors& factors_;
    const Receive& receive_;
    Plan plan_;
    int tile_numbers_;
};

// How many tiles of `height` rows are wanted for `rows`, and fit into `numbers`.
std::size_t tile_count(std::size_t rows, int height, std::int64_t fitting) {
    const auto per_tile = static_cast<std::size_t>(height);
    const std::size_t wanted = (rows + per_tile - 1) / per_tile;
    return std::min(wanted, static_cast<std::size_t>(std::max<std::int64_t>(fitting, 1)));
}

// So many rows of A are packed at once that each packed row of B serves many.
std::vector<ATile> Multiplier::empty_a_tiles() const {
    constexpr std::int64_t numbers = std::int64_t{1} << 21;
    const std::int64_t fitting = numbers / (factors_.depth * kernel_.rows);
    std::vector<ATile> tiles(tile_count(factors_.a.size(), kernel_.rows, fitting));
    for (ATile& tile : tiles)
        for (std::size_t i = 0; i < plan_.halves.size(); ++i)
            tile.halves.emplace_back(kernel_, Side::a, plan_.slabs);
    return tiles;
}

// Tiles of B that a tile of A meets one after another, and that stay in the second cache.
std::vector<BTile> Multiplier::empty_b_tiles() const {
    constexpr std::int64_t bytes = std::int64_t{1} << 20;
    const std::int64_t fitting =
        bytes / (plan_.slabs.count * slab_bytes(kernel_, Side::b, plan_.slabs));
    std::vector<BTile> tiles;
    for (std::size_t i = tile_count(factors_.b.size(), kernel_.columns, fitting); i-- > 0;)
        tiles.push_back({Panel(kernel_, Side::b, plan_.slabs), 0, 0});
    return tiles;
}

std::vector<Sums> Multiplier::empty_sums(std::size_t count) const {
    std::vector<Sums> all(count);
    for (Sums& sums : all) {
        sums.bytes =
            aligned_bytes(sizeof(double) * levels_max * static_cast<std::size_t>(tile_numbers_));
        sums.levels = reinterpret_cast<double*>(sums.bytes.get());
    }
    return all;
}

// How many of the tiles hold rows from `first` on.
std::size_t Multiplier::fill_a(std::vector<ATile>& tiles, std::size_t first) const {
    const auto rows = static_cast<std::size_t>(kernel_.rows);
    std::size_t used = 0;
    for (; used < tiles.size() && first < factors_.a.size(); ++used, first += rows) {
        ATile& tile = tiles[used];
        tile.first = first;
        tile.rows = std::min(rows, factors_.a.size() - first);
        for (std::size_t i = 0; i < tile.halves.size(); ++i)
            tile.halves[i].fill(decoder_of(factors_.a.front().element, kernel_, plan_.halves[i]),
                                factors_.a.subspan(first, tile.rows), factors_.depth);
    }
    return used;
}

std::size_t Multiplier::fill_b(std::vector<BTile>& tiles, std::size_t first) const {
    const auto columns = static_cast<std::size_t>(kernel_.columns);
    const Decoder decoder = decoder_of(factors_.b.front().element, kernel_, Half::none);
    std::size_t used = 0;
    for (; used < tiles.size() && first < factors_.b.size(); ++used, first += columns) {
        BTile& tile = tiles[used];
        tile.first = first;
        tile.columns = std::min(columns, factors_.b.size() - first);
        tile.panel.fill(decoder, factors_.b.subspan(first, tile.columns), factors_.depth);
    }
    return used;
}

void Multiplier::run() {
    std::vector<ATile> a = empty_a_tiles();
    std::vector<BTile> b = empty_b_tiles();
    std::vector<Sums> sums = empty_sums(b.size());
    const std::size_t rows = a.size() * static_cast<std::size_t>(kernel_.rows);
    const std::size_t columns = b.size() * static_cast<std::size_t>(kernel_.columns);
    for (std::size_t row = 0; row < factors_.a.size(); row += rows) {
        const std::size_t used_a = fill_a(a, row);
        for (std::size_t column = 0; column < factors_.b.size(); column += columns) {
            const std::size_t used_b = fill_b(b, column);
            for (std::size_t i = 0; i < used_a; ++i)
                multiply(a[i], std::span(b).first(used_b), sums);
        }
    }
}

// A stretch of A is used with every tile of B while it is in the nearest caches.
void Multiplier::multiply(const ATile& a, std::span<const BTile> b, std::vector<Sums>& sums) const {
    constexpr std::size_t stretch = 16;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        sums[i].steps.clear();
        add_steps(a, b[i].panel, sums[i].steps);
        place_steps(sums[i]);
        clear_levels(sums[i]);
        longest = std::max(longest, sums[i].steps.size());
    }
    for (std::size_t first = 0; first < longest; first += stretch)
        for (std::size_t i = 0; i < b.size(); ++i)
            sum_steps(sums[i], first, std::min(first + stretch, sums[i].steps.size()));
    for (std::size_t i = 0; i < b.size(); ++i) hand_over(a, b[i], sums[i]);
}

// Where the digits of each step lie stands, until place_steps, where its levels will.
void Multiplier::add_steps(const ATile& a, const Panel& b, std::vector<TileStep>& steps) const {
    for (std::size_t half = 0; half < a.halves.size(); ++half) {
        const Panel& panel = a.halves[half];
        for (std::int64_t slab = 0; slab < plan_.slabs.count; ++slab) {
            const ScaleRange &x = panel.range(slab), &y = b.range(slab);
            if (x.least > x.largest || y.least > y.largest) continue;
            TileStep step{panel.slab(slab), b.slab(slab), panel.scales(slab), b.scales(slab), {}};
            for (std::size_t i = 0; i < plan_.spans_a_step; ++i) {
                const SumSpan& span = plan_.spans[half + i];
                step.levels[i] = {span.high + x.largest + y.largest, span.low + x.least + y.least};
            }
            steps.push_back(step);
        }
    }
}

// Level 0 begins where the lowest digit lies. A sum below 2^high goes to the level that it is at
// most 2^level_bits units of, so that no level is given more than tile_kernel.hpp allows.
void Multiplier::place_steps(Sums& sums) const {
    int base = sums.steps.empty() ? 0 : sums.steps.front().levels[0].bottom;
    for (const TileStep& step : sums.steps) base = std::min(base, step.levels[0].bottom);
    int top = 0;
    for (TileStep& step : sums.steps) {
        for (std::size_t i = 0; i < plan_.spans_a_step; ++i) {
            LevelRange& range = step.levels[i];
            range.top = (range.top - base - 1) / level_bits;
            range.bottom = (range.bottom - base) / level_bits;
            top = std::max(top, range.top);
        }
    }
    sums.base = base;
    sums.level_count = top + 1 + plan_.levels_more;
    MX_ASSERT_COMPARE(sums.level_count, <=, levels_max);
}

void Multiplier::clear_levels(Sums& sums) const {
    for (int level = 0; level < sums.level_count; ++level)
        std::fill_n(sums.levels + level * tile_numbers_, tile_numbers_,
                    level_of(sums.base + level * level_bits, 0));
}

// Whenever the levels have been given as much as they have room for, they are carried first.
void Multiplier::sum_steps(Sums& sums, std::size_t first, std::size_t end) const {
    const auto at_once = static_cast<std::size_t>(plan_.steps_at_once);
    while (first < end) {
        if (first != 0 && first % at_once == 0) carry_levels(sums);
        const std::size_t count = std::min(end - first, at_once - first % at_once);
        kernel_.run({sums.steps.data() + first, static_cast<int>(count), plan_.slabs.length,
                     plan_.interval, sums.levels});
        first += count;
    }
}

// Leaves less than 2^level_bits in every level but the highest, which has room for 2^51 carries.
void Multiplier::carry_levels(Sums& sums) const {
    for (int number = 0; number < tile_numbers_; ++number) {
        std::int64_t carry = 0;
        for (int level = 0; level < sums.level_count; ++level) {
            double& held = sums.levels[level * tile_numbers_ + number];
            const std::int64_t count = count_of(held) + carry;
            carry = level + 1 == sums.level_count ? 0 : count >> level_bits;
            held = level_of(sums.base + level * level_bits, count - (carry << level_bits));
        }
    }
}

void Multiplier::hand_over(const ATile& a, const BTile& b, const Sums& sums) const {
    for (std::size_t row = 0; row < a.rows; ++row) {
        const Specials& left = a.halves.front().specials(static_cast<int>(row));
        for (std::size_t column = 0; column < b.columns; ++column) {
            const Place place{a.first + row, b.first + column};
            const Specials& right = b.panel.specials(static_cast<int>(column));
            if (left.any() || right.any()) {
                receive_(place, special_sum(factors_, place, {left, right}));
                continue;
            }
            ExactSum sum;
            sum.window.exponent = sums.base;
            sum.window.count = sums.level_count;
            const double* held =
                sums.levels + row * static_cast<std::size_t>(kernel_.columns) + column;
            for (int level = 0; level < sums.level_count; ++level)
                sum.window.digits[level] = count_of(held[level * tile_numbers_]);
            receive_(place, sum);
        }
    }
}

bool is_one(const fast::Unpacked& value) {
    constexpr fast::Unpacked one = fast::unpack(formats::f32, Code{0x3F800000});
    return value.kind == one.kind && !value.negative && value.exponent == one.exponent &&
           value.significand == one.significand;
}

// Who sums, which is decided here alone: residues of whole numbers, or of numbers that are cut off,
// or a kernel that takes any scales.
struct Way {
    const Kernel& kernel;
    std::optional<ResidueGemm> residues = {};
    std::optional<SettledGemm> settled = {};
    int settled_bits = 0;
};

// Of a kernel of doubles. Both sum whole tiles, and those of doubles are the smaller ones.
int moduli_of_doubles(const ResidueLoops& loops, const Factors& factors, const Kernel& doubles) {
    const auto summed = [&factors](int rows, int columns) {
        const auto up = [](std::size_t size, int tile) {
            const auto step = static_cast<std::size_t>(tile);
            return (size + step - 1) / step * step;
        };
        return up(factors.a.size(), rows) * up(factors.b.size(), columns);
    };
    const bool is_halved = chain_of(factors.a.front(), factors.b.front()).halved;
    const std::size_t cost =
        static_cast<std::size_t>(is_halved ? loops.costs.doubles_twice : loops.costs.doubles_once);
    return static_cast<int>(cost * summed(doubles.rows, doubles.columns) /
                            summed(residue_rows, residue_rows));
}

// What the kernel that takes any scales needs, in the time that so many moduli take.
struct ModuliBeside {
    int sums;    // of numbers that are whole
    int values;  // of numbers that are cut off
};

ModuliBeside moduli_beside(const ResidueLoops& loops, const Factors& factors,
                           const Kernel& beside) {
    if (beside.parts == 0) {
        const int doubles = moduli_of_doubles(loops, factors, beside);
        return {doubles, doubles};
    }
    if (beside.parts < 4) return {22, 32};
    return {moduli_max, 64};
}

// Numbers that are cut off never need much fewer.
constexpr int few_moduli = 18;

Way way_of(const Kernel& kernel, const Factors& factors, Asked asked) {
    MX_ASSERT(takes(kernel, factors.a.front(), factors.b.front()));
    MX_ASSERT_COMPARE(factors.depth, >, 0);
    if (kernel.rounded != nullptr) {
        const bool is_used = asked == Asked::values && RoundedGemm::settles_most(kernel, factors);
        return is_used ? Way{kernel} : way_of(kernel_after(kernel, factors), factors, asked);
    }
    if (kernel.residues == nullptr) return {kernel};
    const Kernel& beside = kernel_beside(factors);
    const ModuliBeside limit = moduli_beside(*kernel.residues, factors, beside);
    if (limit.values == 0) return {beside};
    ResidueGemm residues(*kernel.residues, factors);
    const bool are_held = residues.fits(limit.sums);
    const int least = are_held ? residues.moduli() : limit.values;
    if (asked == Asked::values && least > kernel.residues->costs.rounded) {
        // One that comes before this kernel has been asked.
        const Kernel* rounded = find_rounded(factors);
        if (rounded != nullptr && rounded > &kernel && RoundedGemm::settles_most(*rounded, factors))
            return {*rounded};
    }
    if (asked == Asked::values && least > few_moduli && may_be_settled(factors)) {
        SettledGemm settled(std::move(residues), factors);
        const int bits = settled.bits_wanted(least);
        if (bits != 0) return {kernel, {}, std::move(settled), bits};
        if (are_held) return {kernel, std::move(settled.residues())};
    } else if (are_held) {
        return {kernel, std::move(residues)};
    }
    return {beside};
}

void run(Way& way, const Factors& factors, const Receive& receive) {
    if (way.residues) return way.residues->run(receive);
    Multiplier(way.kernel, factors, receive).run();
}

}  // namespace

const Kernel& kernel_used(const Kernel& kernel, const Factors& factors, Asked asked) {
    const UsualFloats usual;
    return way_of(kernel, factors, asked).kernel;
}

void for_each_sum(const Kernel& kernel, const Factors& factors, const Receive& receive) {
    if (factors.a.empty() || factors.b.empty()) return;
    const UsualFloats usual;
    Way way = way_of(kernel, factors, Asked::sums);
    run(way, factors, receive);
}

void for_each_value(const Kernel& kernel, const Factors& factors, const ReceiveValue& receive) {
    if (factors.a.empty() || factors.b.empty()) return;
    const UsualFloats usual;
    Way way = way_of(kernel, factors, Asked::values);
    if (way.settled) return way.settled->run(way.settled_bits, kernel_beside(factors), receive);
    if (way.kernel.rounded != nullptr)
        return RoundedGemm(way.kernel, factors).run(kernel_after(way.kernel, factors), receive);
    run(way, factors,
        [&](const Place& place, const ExactSum& sum) { receive(place, value_of(sum)); });
}

fast::Total total_of(const ExactSum& sum) {
    fast::Total total;
    total.nan = sum.kind == fast::Kind::nan;
    total.negative_infinity = sum.kind == fast::Kind::infinity && sum.negative_infinity;
    total.positive_infinity = sum.kind == fast::Kind::infinity && !sum.negative_infinity;
    if (sum.kind == fast::Kind::finite) add_to(total.sum, sum.window);
    return total;
}

fast::Unpacked value_of(const ExactSum& sum) {
    if (sum.kind == fast::Kind::finite) return leading_bits(sum.window);
    return {sum.kind, sum.kind == fast::Kind::infinity && sum.negative_infinity, 0, 0};
}

bool leaves_sums_alone(const fast::Affine& affine) {
    return is_one(affine.alpha) && fast::is_zero(affine.beta);
}

// The alpha and beta of most GEMMs are 1 and 0.
Code finished(const Finish& finish, const ExactSum& sum, const fast::Unpacked& c) {
    if (!leaves_sums_alone(finish.affine))
        return fast::round_total(finish.type, finish.rounding, finish.overflow,
                                 fast::combine(finish.affine, total_of(sum), c));
    const fast::Unpacked value = value_of(sum);
    constexpr ElementFormat f32 = formats::f32;
    if (finish.type.name == f32.name)
        return fast::round(f32, finish.rounding, finish.overflow, value);
    return fast::round(finish.type, finish.rounding, finish.overflow, value);
}

}  // namespace mx::gemm
