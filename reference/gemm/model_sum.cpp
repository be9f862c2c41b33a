// See model_sum.hpp.
#include "reference/gemm/model_sum.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "reference/spec/formats.hpp"

namespace mx::gemm {
namespace {

using fast::Kind;
using fast::Unpacked;

// The most products of a step here; steps of more go the general way.
constexpr int products_max = 32;

// A code as a step reads it.
struct Factor {
    std::uint32_t significand = 0;
    std::int16_t exponent = 0;
    std::int16_t alignment = 0;  // the exponent that the machine reads from its fields
    std::uint32_t sign = 0;      // all ones where negative
    std::uint32_t special = 0;   // not 0 where it is no finite number
};

Factor factor_of(const ElementFormat& format, FactorExponents exponents, Code code) {
    const Unpacked value = fast::unpack(format, code);
    const ElementFormat& read = exponents == FactorExponents::own ? format : formats::f16;
    return {static_cast<std::uint32_t>(value.significand),
            static_cast<std::int16_t>(value.exponent),
            static_cast<std::int16_t>(fast::exponent_of(read, value)),
            value.negative ? ~std::uint32_t{0} : 0, value.kind == Kind::finite ? 0u : 1u};
}

// All codes of a format of at most 8 bits.
using Factors256 = std::array<Factor, 256>;

struct FormatTable {
    ElementFormat format;
    std::array<Factors256, 2> factors;  // by FactorExponents
};

std::vector<FormatTable> make_tables() {
    std::vector<FormatTable> tables;
    const auto add = [&](const ElementFormat& format) {
        if (format.code_bits() > 8) return;
        FormatTable& table = tables.emplace_back(FormatTable{format, {}});
        for (const FactorExponents exponents : {FactorExponents::own, FactorExponents::f16})
            for (std::uint32_t code = 0; code < 256; ++code)
                table.factors[static_cast<std::size_t>(exponents)][code] =
                    factor_of(format, exponents, Code{code});
    };
    for (const ElementFormat& format : element_formats) add(format);
    add(ue4m3);
    return tables;
}

// nullptr for a format whose codes are decoded one by one.
const Factors256* table_of(const ElementFormat& format, FactorExponents exponents) {
    static const std::vector<FormatTable> tables = make_tables();
    for (const FormatTable& table : tables)
        if (table.format.name == format.name)
            return &table.factors[static_cast<std::size_t>(exponents)];
    return nullptr;
}

Factor times_scale(Factor factor, const Factor& scale) {
    factor.significand *= scale.significand;
    factor.exponent = static_cast<std::int16_t>(factor.exponent + scale.exponent);
    factor.alignment = static_cast<std::int16_t>(factor.alignment + scale.exponent);
    factor.sign ^= scale.sign;
    factor.special |= scale.special;
    return factor;
}

std::vector<Factor> elements_of(const GemmModel& model, const ScaledRow& row, std::int64_t depth) {
    const Factors256* table = table_of(row.element, model.exponents);
    std::vector<Factor> factors(static_cast<std::size_t>(depth));
    for (std::int64_t k = 0; k < depth; ++k) {
        const Code code = row.codes.at(k);
        factors[static_cast<std::size_t>(k)] = table != nullptr
                                                   ? (*table)[code.bits & 255]
                                                   : factor_of(row.element, model.exponents, code);
    }
    return factors;
}

// The elements of a row, times the scales of their blocks where these move the exponents.
std::vector<Factor> factors_of(const GemmModel& model, const ScaledRow& row, std::int64_t depth) {
    std::vector<Factor> factors = elements_of(model, row, depth);
    if (model.scaling != BlockScaling::product_exponent) return factors;
    for (std::int64_t first = 0; first < depth; first += row.block) {
        const Factor scale = factor_of(row.scale, FactorExponents::own, row.scale_at(first));
        const std::int64_t end = std::min(first + row.block, depth);
        for (std::int64_t k = first; k < end; ++k) {
            Factor& factor = factors[static_cast<std::size_t>(k)];
            factor = times_scale(factor, scale);
        }
    }
    return factors;
}

// The products of a step, side by side. What lies beyond the end is 0 and aligned by nothing.
constexpr int no_alignment = -100000;
struct Products {
    std::array<std::uint64_t, products_max> magnitude;
    std::array<int, products_max> exponent;
    std::array<int, products_max> alignment;
    std::array<std::uint32_t, products_max> sign;
    std::size_t count;
    std::uint32_t special;
};

void multiply(const GemmModel& model, std::span<const Factor> a, std::span<const Factor> b,
              std::int64_t first, Products& products) {
    const bool counts_zeros = model.zero_products == ZeroProducts::counted;
    products.count = static_cast<std::size_t>(model.products);
    products.special = 0;
    for (std::size_t i = 0; i < products.count; ++i) {
        const auto k = static_cast<std::size_t>(
            fast::place_in_order(model.order, first + static_cast<std::int64_t>(i)));
        const bool is_there = k < a.size();
        const Factor x = is_there ? a[k] : Factor{}, y = is_there ? b[k] : Factor{};
        const std::uint64_t magnitude = std::uint64_t{x.significand} * y.significand;
        products.magnitude[i] = magnitude;
        products.exponent[i] = x.exponent + y.exponent;
        products.alignment[i] =
            magnitude != 0 || (counts_zeros && is_there) ? x.alignment + y.alignment : no_alignment;
        products.sign[i] = x.sign ^ y.sign;
        products.special |= x.special | y.special;
    }
}

// As fast::cut of the product: of at most 56 bits, so that no shift of up to 63 to the left is
// wanted of one that is not 0.
std::int64_t cut(const Products& products, std::size_t i, int unit) {
    const int shift = products.exponent[i] - unit;
    const int left = std::clamp(shift, 0, 63), right = std::clamp(-shift, 0, 63);
    const std::uint64_t kept = products.magnitude[i] << left >> right;
    const auto units = static_cast<std::int64_t>(kept);
    return products.sign[i] != 0 ? -units : units;
}

// As fast::step of finite numbers.
Unpacked finite_step(const GemmModel& model, const Products& products,
                     const Unpacked& accumulator) {
    int largest = accumulator.significand != 0 ? fast::exponent_of(model.accumulator, accumulator)
                                               : no_alignment;
    for (std::size_t i = 0; i < products.count; ++i)
        largest = std::max(largest, products.alignment[i]);
    if (largest == no_alignment) return {};
    const int unit = std::max(largest, model.exponent_floor) - model.fraction_bits;
    std::int64_t sum = fast::cut(accumulator, unit);
    for (std::size_t i = 0; i < products.count; ++i) sum += cut(products, i, unit);
    return fast::rounded_sum(model, sum, unit);
}

// Whether a model's steps are what this file knows: single products that are aligned and cut.
bool takes(const GemmModel& model) {
    return model.sum == StepSum::aligned && model.fraction_bits != all_bits &&
           model.cut == Rounding::toward_zero && model.scaling != BlockScaling::group &&
           model.scaling != BlockScaling::dequantised && model.products <= products_max;
}

}  // namespace

fast::Unpacked accumulate(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                          std::int64_t depth, const fast::Unpacked& c) {
    if (!takes(model)) return fast::accumulate(model, a, b, depth, c);
    const std::vector<Factor> left = factors_of(model, a, depth),
                              right = factors_of(model, b, depth);
    const auto one_step = [&](fast::StepRange range, const Unpacked& accumulator) {
        Products products;
        multiply(model, left, right, range.first, products);
        return products.special == 0 && accumulator.kind == Kind::finite
                   ? finite_step(model, products, accumulator)
                   : fast::step(model, a, b, range, accumulator);
    };
    return fast::accumulate_by(one_step, model, a, b, depth, c);
}

fast::Unpacked accumulate_in_parts(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                                   std::int64_t depth, std::int64_t part) {
    if (part == 0) return accumulate(model, a, b, depth, {});
    fast::Unpacked total;
    for (std::int64_t first = 0; first < depth; first += part)
        total = fast::sum(total, accumulate(model, a.from(first), b.from(first),
                                            std::min(part, depth - first), {}));
    return total;
}

}  // namespace mx::gemm
