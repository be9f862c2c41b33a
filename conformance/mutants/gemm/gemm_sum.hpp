// One output before its epilogue: steps along K, and what becomes of the accumulator between them.
// Bugs of these are planted here. Shares no line with reference/.
#pragma once

#include <algorithm>
#include <cstdint>

#include "conformance/mutants/gemm/gemm_cdna.hpp"

namespace mx::mutants::gemm {

inline Number step_of(const Machine& machine, const Numbers& products, const Number& accumulator) {
    if (machine.way == Way::tree) return tree_step(machine, products, accumulator);
    if (machine.way == Way::even_and_odd) return even_and_odd_step(machine, products, accumulator);
    return step(machine, products, accumulator);
}

inline std::size_t summed_depth(std::size_t depth) {
    if (has(Bug::k_tail_dropped)) return depth / 32 * 32;
    if (has(Bug::k_counted_to_4096)) return std::min<std::size_t>(depth, 4096);
    return has(Bug::half_of_k_missing) && depth >= 64 ? depth / 2 : depth;
}

inline Number rounded_to_halves(const Number& number, const Format& format) {
    return number_of(encode_value(static_cast<double>(value_of(number)), format), format);
}

inline float sum_of_products(const Machine& machine, const Numbers& a, const Numbers& b,
                             const Number& start) {
    const std::size_t counted = summed_depth(a.size());
    // Places before k 0, so that the last step or chunk is whole and the first one is not.
    const auto unit = static_cast<std::size_t>(machine.led_by_rest);
    const std::size_t lead = (unit - counted % unit) % unit, depth = lead + counted;
    const auto length = static_cast<std::size_t>(machine.products);
    const std::size_t middle = depth / 2 / length * length;
    const auto promotion = static_cast<std::size_t>(machine.promotion);
    Number inner = start;
    float outer = 0;
    Numbers products;
    for (std::size_t first = 0; first < depth; first += length) {
        const std::size_t end = std::min(first + length, depth);
        products.clear();
        for (std::size_t k = std::max(first, lead); k < end; ++k)
            if (!has(Bug::one_k_dropped) || counted < 64 || k != counted / 2)
                products.push_back(product_of(a[k - lead], b[k - lead]));
        if (has(Bug::last_k_doubled) && end - first < length) products.push_back(products.back());
        inner = step_of(machine, products, inner);
        if (has(Bug::split_halves_overlap) && first == middle && depth >= 64)
            inner = step(machine, products, inner);
        if (has(Bug::f16_accumulator)) inner = rounded_to_halves(inner, f16);
        if (has(Bug::bf16_accumulator)) inner = rounded_to_halves(inner, bf16);
        if (promotion == 0 || (end % promotion != 0 && end != depth)) continue;
        if (has(Bug::last_chunk_joined) && end != depth && depth - end < promotion) continue;
        outer += value_of(inner);
        inner = {};
    }
    return promotion == 0 || depth == 0 ? value_of(inner) : outer;
}

}  // namespace mx::mutants::gemm
