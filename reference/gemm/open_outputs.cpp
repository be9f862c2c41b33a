// See open_outputs.hpp.
#include "reference/gemm/open_outputs.hpp"

namespace mx::gemm {
namespace {

// Some rows of a factor, and where each row of the factor lies among them.
struct Chosen {
    std::vector<ScaledRow> rows;
    std::vector<std::size_t> wholes;   // the place in the factor
    std::vector<std::size_t> indices;  // the place here, and 1; 0: not chosen

    explicit Chosen(std::size_t rows_of_factor) : indices(rows_of_factor) {}
    std::size_t add(std::span<const ScaledRow> factor, std::size_t row) {
        if (indices[row] == 0) {
            rows.push_back(factor[row]);
            wholes.push_back(row);
            indices[row] = rows.size();
        }
        return indices[row] - 1;
    }
};

}  // namespace

void settle_by_blocks(const Factors& factors, const TopsPair& tops, std::vector<Place>& open,
                      const ReceiveValue& receive) {
    if (open.size() > factors.a.size() * factors.b.size() / 8) return;
    const LeadingBlocks blocks(factors, tops);
    std::size_t left = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
        const Place place = open[i];
        const bool is_worth_asking = left < 16 + i / 8;
        const auto value = is_worth_asking ? blocks.value(place) : std::nullopt;
        if (value)
            receive(place, *value);
        else
            open[left++] = place;
    }
    open.resize(left);
}

void settle_in_full(const Factors& factors, const Kernel& kernel, const std::vector<Place>& open,
                    const ReceiveValue& receive) {
    constexpr std::size_t outputs_as_slow_as_one = 200;
    if (open.size() * outputs_as_slow_as_one < factors.a.size() * factors.b.size()) {
        for (const Place& place : open)
            receive(
                place,
                fast::leading_bits(
                    fast::dot(factors.a[place.row], factors.b[place.column], factors.depth).sum));
        return;
    }
    std::vector<std::vector<bool>> is_open(factors.a.size());
    for (const Place& place : open) {
        is_open[place.row].resize(factors.b.size());
        is_open[place.row][place.column] = true;
    }
    std::vector<ScaledRow> rows;
    std::vector<std::size_t> places;
    for (std::size_t row = 0; row < is_open.size(); ++row) {
        if (is_open[row].empty()) continue;
        rows.push_back(factors.a[row]);
        places.push_back(row);
    }
    for_each_sum(kernel, {rows, factors.b, factors.depth},
                 [&](const Place& place, const ExactSum& sum) {
                     const Place whole{places[place.row], place.column};
                     if (is_open[whole.row][whole.column]) receive(whole, value_of(sum));
                 });
}

void settle_open(const Factors& factors, const Kernel& kernel, std::vector<Place> open,
                 const ReceiveValue& receive) {
    if (open.empty()) return;
    Chosen a(factors.a.size()), b(factors.b.size());
    for (Place& place : open) place = {a.add(factors.a, place.row), b.add(factors.b, place.column)};
    const Factors chosen{a.rows, b.rows, factors.depth};
    const auto receive_whole = [&](const Place& place, const fast::Unpacked& value) {
        receive({a.wholes[place.row], b.wholes[place.column]}, value);
    };
    if (has_leading_blocks(factors)) {
        const BlockTops tops_a(a.rows, factors.depth), tops_b(b.rows, factors.depth);
        settle_by_blocks(chosen, {tops_a, tops_b}, open, receive_whole);
    }
    settle_in_full(chosen, kernel, open, receive_whole);
}

}  // namespace mx::gemm
