// See model_sum.hpp.
#include "reference/gemm/model_sum.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "reference/fast/dot_factor.hpp"
#include "reference/spec/formats.hpp"

namespace mx::gemm {
namespace {

using fast::Factor, fast::factor_of, fast::no_alignment;
using fast::Kind, fast::Unpacked;

// The most products of a step here; steps of more go the general way.
constexpr int products_max = 32;

// All codes of a format of at most 16 bits.
struct FactorTable {
    ElementFormat format;
    FactorExponents exponents;
    std::once_flag is_made;
    std::vector<Factor> factors;  // by code
};

std::deque<FactorTable> empty_tables() {
    std::deque<FactorTable> tables;
    const auto add = [&](const ElementFormat& format) {
        if (format.code_bits() > 16) return;
        for (const FactorExponents exponents : {FactorExponents::own, FactorExponents::f16}) {
            FactorTable& table = tables.emplace_back();
            table.format = format;
            table.exponents = exponents;
        }
    };
    for (const ElementFormat& format : element_formats) add(format);
    add(ue4m3);
    return tables;
}

// nullptr for a format whose codes are decoded one by one. Made where it is first asked for.
const std::vector<Factor>* table_of(const ElementFormat& format, FactorExponents exponents) {
    static std::deque<FactorTable> tables = empty_tables();
    for (FactorTable& table : tables) {
        if (table.format.name != format.name || table.exponents != exponents) continue;
        std::call_once(table.is_made, [&] {
            for (std::uint32_t code = 0; code >> format.code_bits() == 0; ++code)
                table.factors.push_back(factor_of(format, exponents, Code{code}));
        });
        return &table.factors;
    }
    return nullptr;
}

std::vector<Factor> elements_of(const GemmModel& model, const ScaledRow& row, std::int64_t depth) {
    const std::vector<Factor>* table = table_of(row.element, model.exponents);
    std::vector<Factor> factors(static_cast<std::size_t>(depth));
    for (std::int64_t k = 0; k < depth; ++k) {
        const Code code = row.codes.at(k);
        factors[static_cast<std::size_t>(k)] = table != nullptr
                                                   ? (*table)[code.bits & (table->size() - 1)]
                                                   : factor_of(row.element, model.exponents, code);
    }
    return factors;
}

// The elements of a row, times the scales of their blocks where these move the exponents.
std::vector<Factor> factors_of(const GemmModel& model, const ScaledRow& row, std::int64_t depth) {
    if (model.scaling == BlockScaling::dequantised) {
        std::vector<Factor> factors;
        for (std::int64_t k = 0; k < depth; ++k) factors.push_back(fast::factor_at(model, row, k));
        return factors;
    }
    std::vector<Factor> factors = elements_of(model, row, depth);
    if (model.scaling != BlockScaling::product_exponent) return factors;
    for (std::int64_t first = 0; first < depth; first += row.block) {
        const Factor scale = factor_of(row.scale, FactorExponents::own, row.scale_at(first));
        const std::int64_t end = std::min(first + row.block, depth);
        for (std::int64_t k = first; k < end; ++k) {
            Factor& factor = factors[static_cast<std::size_t>(k)];
            factor = fast::times_scale(factor, scale);
        }
    }
    return factors;
}

// The products of a step, side by side. What lies beyond its end is 0 and aligned by nothing.
struct Products {
    std::array<std::uint64_t, products_max> magnitude;
    std::array<int, products_max> exponent;
    std::array<int, products_max> alignment;
    std::array<bool, products_max> negative;
    std::size_t count;
    bool has_specials;
};

void multiply(const GemmModel& model, std::span<const Factor> a, std::span<const Factor> b,
              fast::StepRange range, Products& products) {
    products.count = static_cast<std::size_t>(model.products);
    std::uint32_t flags = 0;
    for (std::size_t i = 0; i < products.count; ++i) {
        const auto k = static_cast<std::size_t>(
            fast::place_in_order(model.order, range.first + static_cast<std::int64_t>(i)));
        const bool is_there = k < static_cast<std::size_t>(range.depth);
        const Factor x = is_there ? a[k] : Factor{}, y = is_there ? b[k] : Factor{};
        const fast::FactorProduct product = fast::product_of(model.zero_products, x, y);
        products.magnitude[i] = product.magnitude;
        products.exponent[i] = product.exponent;
        products.alignment[i] = is_there ? product.alignment : no_alignment;
        products.negative[i] = product.negative;
        flags |= x.bits | y.bits;
    }
    products.has_specials = (flags & Factor::special_bit) != 0;
}

Unpacked finite_step_of(const GemmModel& model, const Products& products,
                        const Unpacked& accumulator) {
    int largest = no_alignment;
    for (std::size_t i = 0; i < products.count; ++i)
        largest = std::max(largest, products.alignment[i]);
    return fast::finite_step(model, largest, accumulator, [&](int unit) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < products.count; ++i)
            sum += fast::units_of(products.magnitude[i], products.exponent[i], products.negative[i],
                                  unit);
        return sum;
    });
}

}  // namespace

fast::Unpacked accumulate(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                          std::int64_t depth, const fast::Unpacked& c) {
    if (!fast::has_factors(model) || model.products > products_max)
        return fast::accumulate(model, a, b, depth, c);
    const std::vector<Factor> left = factors_of(model, a, depth),
                              right = factors_of(model, b, depth);
    const auto one_step = [&](fast::StepRange range, const Unpacked& accumulator) {
        Products products;
        multiply(model, left, right, range, products);
        return !products.has_specials && accumulator.kind == Kind::finite
                   ? finite_step_of(model, products, accumulator)
                   : fast::step(model, a, b, range, accumulator);
    };
    return fast::accumulate_by(one_step, model, a, b, depth, c);
}

fast::Unpacked accumulate_in_parts(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                                   std::int64_t depth, std::int64_t part) {
    return fast::sum_of_parts(depth, part, [&](std::int64_t first, std::int64_t count) {
        return accumulate(model, a.from(first), b.from(first), count, {});
    });
}

TimesAlpha::TimesAlpha(const ScaledRow& row, std::int64_t depth, const Unpacked& alpha) {
    for (std::int64_t k = 0; k < depth; ++k) {
        const Unpacked element = fast::unpack(row.element, row.codes.at(k));
        codes_.push_back(fast::round(formats::f32, Rounding::nearest_even, Overflow::overflow,
                                     fast::product(element, alpha))
                             .bits);
    }
}

ScaledRow TimesAlpha::row() const {
    return {formats::f32, {reinterpret_cast<const std::uint8_t*>(codes_.data()), 4, 1}};
}

Unpacked accumulate_with_alpha(const GemmModel& model, const DotProduct& product, std::int64_t part,
                               Code& alpha) {
    constexpr Code one{0x3F800000};
    const auto summed = [&](const ScaledRow& a) {
        return part == 0 ? gemm::accumulate(model, a, product.b, product.depth, product.c)
                         : gemm::accumulate_in_parts(model, a, product.b, product.depth, part);
    };
    if (model.alpha == AlphaPlace::sum || alpha == one) return summed(product.a);
    const TimesAlpha factor(product.a, product.depth, fast::unpack(formats::f32, alpha));
    alpha = one;
    return summed(factor.row());
}

}  // namespace mx::gemm
