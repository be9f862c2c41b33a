// The bounds of blocks and rows that doubts are made of (gemm/block_tops.hpp) against the numbers
// themselves, as fast/dot.hpp reads them.
#include "reference/gemm/block_tops.hpp"
#include "reference/proof/gemm_problem.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

// An exponent of two that a number is below, the least.
int width_of(const fast::WideSum& number) {
    const fast::Unpacked value = fast::leading_bits(number);
    if (value.significand == 0) return gemm::no_top;
    return value.exponent + fast::bit_width(value.significand);
}

// Every number against the bound of its block, and their sums against those of rows: a bound may be
// too high, never too low. Only zeros have none.
Report compare_bounds(const Factor& factor) {
    const std::vector<ScaledRow> rows = factor.rows();
    const gemm::BlockTops tops(rows, factor.depth);
    Report report;
    std::string text;
    const auto compare = [&](int bound, const fast::WideSum& number) {
        const int least = width_of(number);
        text += std::to_string(least) + "\n";
        if (bound < least)
            add_mismatch(report, report.count, static_cast<std::uint32_t>(bound),
                         static_cast<std::uint32_t>(least));
        ++report.count;
    };
    for (std::size_t row = 0; row < rows.size(); ++row) {
        fast::WideSum all;
        std::vector<bool> is_zeros(static_cast<std::size_t>(factor.blocks()), true);
        for (std::int64_t k = 0; k < factor.depth; ++k) {
            const fast::Unpacked value = fast::scaled_element(rows[row], k);
            if (!fast::is_zero(value)) is_zeros[static_cast<std::size_t>(k / factor.block)] = false;
            if (value.kind != fast::Kind::finite) continue;
            fast::WideSum number;
            fast::add(number, {false, value.exponent, value.significand});
            fast::add(all, {false, value.exponent, value.significand});
            compare(tops.of(row)[k / factor.block], number);
        }
        compare(tops.norm(row), all);
        for (std::size_t block = 0; block < is_zeros.size(); ++block)
            if (is_zeros[block] && tops.of(row)[block] != gemm::no_top) ++report.mismatches;
    }
    report.digest = sha256(text);
    return report;
}

// A row for each code, alone in its block.
Factor every_code(const ElementFormat& format) {
    Factor factor{format, 40};
    const std::uint32_t mask = format.code_sign_mask() | format.code_magnitude_mask();
    for (std::uint32_t code = 0; code <= mask; ++code)
        add_row(
            factor, [&](std::int64_t k) { return k == 35 ? code : 0; },
            [](std::int64_t) { return 127; });
    return factor;
}

// The largest block lacks little to a power of two, and 16 others, of which each is far below it,
// have more than that.
Factor many_small_blocks() {
    Factor factor{formats::e4m3, 544};
    add_row(
        factor,
        [](std::int64_t k) {
            constexpr std::uint32_t longest = 0x3F;  // 1.875
            constexpr std::array<std::uint32_t, 3> nearly_two{longest, 0x1E, 0x07};
            return k >= 32 ? longest : k < 3 ? nearly_two[static_cast<std::size_t>(k)] : 0;
        },
        [](std::int64_t block) { return block == 0 ? 137 : 127; });
    return factor;
}

Factor bounded_factor(std::size_t index) {
    const ElementFormat format = *find_element_format(elements[index % elements.size()]);
    constexpr std::array<int, 4> spreads{0, 12, 60, 254};
    const std::size_t kind = index / elements.size();
    if (kind < spreads.size()) return mixed_factor(format, {20, 300, spreads[kind]}, index);
    return kind == spreads.size() ? every_code(format) : largest_factor(format, 2100);
}

}  // namespace

Proof gemm_bound_proof() {
    return {"gemm settled bounds",
            "every code of every format, and rows of any scales, with NaN and infinities",
            [](int threads) {
                constexpr std::size_t count = 6 * elements.size();
                std::vector<Report> reports(count + 2);
                parallel_for(reports.size(), threads, [&](std::size_t i) {
                    const auto factor = [&] {
                        if (i < count) return bounded_factor(i);
                        return i == count
                                   ? many_small_blocks()
                                   : with_specials(mixed_factor(formats::e5m2, {20, 96, 254}, i));
                    };
                    reports[i] = compare_bounds(factor());
                });
                return joined(reports);
            }};
}

}  // namespace mx::proof
