// The relations of gemm that are about places: rows, columns, batches, the order of K, layouts.
#include <algorithm>

#include "conformance/relation/facts.hpp"
#include "conformance/relation/gemm_pair.hpp"

namespace mx::relation {
namespace {

Expected<Finding> repeated(Subject& subject, const Sample& sample) {
    const Product p = whole_product(subject.setting(), sample, 1);
    Product other = p;
    std::swap(other.alpha, other.beta);
    return check_again(
        Again<Product>{p, other, "another alpha and beta"},
        [&](const Product& product) { return multiply(subject, product); },
        [](Finding& finding, const CodeTensor& first, const CodeTensor& second) {
            compare(finding, {"output", first, second});
        });
}

Places columns_turned(const CodeTensor& tensor, std::int64_t by) {
    return lanes_turned(tensor, {1, tensor.columns, by});
}

Expected<Finding> rows_change_places(Subject& subject, const Sample& sample) {
    const Product p = whole_product(subject.setting(), sample, 2);
    const std::int64_t by = 1 + static_cast<std::int64_t>(Random(sample.seed).below(7));
    Product turned = p;
    turned.a = moved(p.a, rows_turned(p.a, by, 2));
    if (p.scales_a.rows == p.a.rows)
        turned.scales_a = moved(p.scales_a, rows_turned(p.scales_a, by, 2));
    turned.c = moved(p.c, rows_turned(p.c, by, 2));
    const Places to = rows_turned(shape_of_d(subject.setting(), p), by, 2);
    return check_pair(subject, ProductPair{p, turned, to});
}

Expected<Finding> columns_change_places(Subject& subject, const Sample& sample) {
    Tally tally;
    for (const char* epilogue : {"", "bias"}) {
        Product p = whole_product(subject.setting(), sample, 2);
        p.epilogue = epilogue;
        Random random(sample.seed);
        const std::int64_t by = 1 + static_cast<std::int64_t>(random.below(7));
        if (!p.epilogue.empty())
            p.bias = make_numbers(subject.setting(), {0, 0, 1, sample.extents.n}, random);
        Product turned = p;
        turned.b = moved(p.b, rows_turned(p.b, by, 2));
        if (p.scales_b.rows == p.b.rows)
            turned.scales_b = moved(p.scales_b, rows_turned(p.scales_b, by, 2));
        turned.c = moved(p.c, columns_turned(p.c, by));
        if (p.bias.rows != 0) turned.bias = moved(p.bias, columns_turned(p.bias, by));
        const Places to = columns_turned(shape_of_d(subject.setting(), p), by);
        if (!tally.add(check_pair(subject, ProductPair{p, turned, to}))) break;
    }
    return tally.take();
}

// The rows [row, row + rows) of A, its scales and C; `whole` rows of B.
struct RowsOfA {
    std::int64_t row, rows, row_of_b, rows_of_b;
};
Product part_of(const Product& p, const RowsOfA& part) {
    Product result = p;
    const auto taken = [](const CodeTensor& tensor, std::int64_t row, std::int64_t rows) {
        return tensor.rows <= 1 ? tensor : cut(tensor, {row, 0, rows, tensor.columns});
    };
    result.a = cut(p.a, {part.row, 0, part.rows, p.a.columns});
    result.b = cut(p.b, {part.row_of_b, 0, part.rows_of_b, p.b.columns});
    if (p.scales_a.type != "f32") {
        result.scales_a = taken(p.scales_a, part.row, part.rows);
        result.scales_b = taken(p.scales_b, part.row_of_b, part.rows_of_b);
    }
    result.c = taken(p.c, part.row, part.rows);
    result.batches = 1;
    return result;
}

Expected<Finding> parts_stand_alone(Subject& subject, const Product& p,
                                    const std::vector<RowsOfA>& parts) {
    Tally tally;
    const CodeTensor d = shape_of_d(subject.setting(), p);
    for (const RowsOfA& part : parts)
        if (!tally.add(check_pair(subject,
                                  ProductPair{part_of(p, part), p,
                                              places_of(d, {part.row, 0, part.rows, d.columns})})))
            break;
    return tally.take();
}

Expected<Finding> batches_stand_alone(Subject& subject, const Sample& sample) {
    const Extents& e = sample.extents;
    return parts_stand_alone(subject, whole_product(subject.setting(), sample, 2),
                             {{0, e.m, 0, e.n}, {e.m, e.m, e.n, e.n}});
}

Expected<Finding> rows_stand_alone(Subject& subject, const Sample& sample) {
    const Extents& e = sample.extents;
    return parts_stand_alone(subject, whole_product(subject.setting(), sample, 1),
                             {{0, 1, 0, e.n}, {e.m - 1, 1, 0, e.n}});
}

Expected<Finding> factors_change_places(Subject& subject, const Sample& sample) {
    const Product p = make_product(subject.setting(), sample, {Factors::any, 1});
    Product turned = p;
    std::swap(turned.a, turned.b);
    std::swap(turned.scales_a, turned.scales_b);
    return check_pair(subject,
                      ProductPair{p, turned, transposed_places(shape_of_d(subject.setting(), p))});
}

Expected<Finding> zeros_add_nothing(Subject& subject, const Sample& sample) {
    const Product p = make_product(subject.setting(), sample, {Factors::numbers, 1});
    const std::int64_t k = sample.extents.k;
    const std::int64_t longer = (k + 31) / 32 * 32 + 64;
    Product filled = p;
    filled.a = cut(p.a, {0, 0, p.a.rows, longer});
    filled.b = cut(p.b, {0, 0, p.b.rows, longer});
    if (subject.setting().scaling == "1x32")
        for (CodeTensor* scales : {&filled.scales_a, &filled.scales_b}) {
            const std::int64_t before = scales->columns;
            *scales = cut(*scales, {0, 0, scales->rows, longer / subject.setting().block});
            for (std::int64_t i = 0; i < scales->rows * scales->columns; ++i)
                if (i % scales->columns >= before) scales->set(static_cast<std::size_t>(i), 127);
        }
    return check_pair(subject,
                      ProductPair{p, filled, same_places(shape_of_d(subject.setting(), p))});
}

// Sums that no order can change: lanes within blocks, whole blocks with their scales, and, under
// scales of 1, all of K.
Expected<Finding> k_changes_places(Subject& subject, const Sample& sample) {
    const Setting& setting = subject.setting();
    const Product p = make_product(setting, sample, {Factors::exact, 1});
    const Places stay = same_places(shape_of_d(setting, p));
    Random random(sample.seed);
    const auto by = 1 + static_cast<std::int64_t>(random.below(29));
    Product lanes = p;
    lanes.a = moved(p.a, lanes_turned(p.a, {1, setting.block, by}));
    lanes.b = moved(p.b, lanes_turned(p.b, {1, setting.block, by}));
    Tally tally;
    if (!tally.add(check_pair(subject, ProductPair{p, lanes, stay}))) return tally.take();
    Product even = p;
    for (CodeTensor* scales : {&even.scales_a, &even.scales_b})
        for (std::size_t i = 0; i < scales->count(); ++i)
            scales->set(i, scales->type == "f32" ? one_f32 : 127);
    Product turned = even;
    turned.a = moved(p.a, columns_turned(p.a, by));
    turned.b = moved(p.b, columns_turned(p.b, by));
    if (!tally.add(check_pair(subject, ProductPair{even, turned, stay}))) return tally.take();
    if (setting.scaling != "1x32" || p.a.columns % setting.block != 0) return tally.take();
    Product blocks = p;
    blocks.a = moved(p.a, columns_turned(p.a, setting.block));
    blocks.b = moved(p.b, columns_turned(p.b, setting.block));
    blocks.scales_a = moved(p.scales_a, columns_turned(p.scales_a, 1));
    blocks.scales_b = moved(p.scales_b, columns_turned(p.scales_b, 1));
    tally.add(check_pair(subject, ProductPair{p, blocks, stay}));
    return tally.take();
}

// The product is that of the first part of K as C, plus that of the rest.
Expected<Finding> k_splits(Subject& subject, const Sample& sample) {
    const Product p = make_product(subject.setting(), sample, {Factors::exact, 1});
    const std::int64_t k = sample.extents.k, block = subject.setting().block;
    const std::int64_t at = std::max<std::int64_t>(k / 2 / block * block, std::min(block, k));
    const auto part = [&](std::int64_t from, std::int64_t to) {
        Product result = p;
        result.a = cut(p.a, {0, from, p.a.rows, to - from});
        result.b = cut(p.b, {0, from, p.b.rows, to - from});
        if (subject.setting().scaling != "1x32") return result;
        const std::int64_t first = from / block, last = (to + block - 1) / block;
        result.scales_a = cut(p.scales_a, {0, first, p.scales_a.rows, last - first});
        result.scales_b = cut(p.scales_b, {0, first, p.scales_b.rows, last - first});
        return result;
    };
    if (at >= k) return bad_input("K is one block: nothing is left to split");
    const auto first = multiply(subject, part(0, at));
    if (!first) return first.error();
    Product rest = part(at, k);
    rest.beta = one_f32;
    rest.c = first.value();
    return check_pair(subject, ProductPair{p, rest, same_places(first.value())});
}

Expected<Finding> layouts_agree(Subject& subject, const Sample& sample) {
    const Product p = make_product(subject.setting(), sample, {Factors::any, 1});
    Product tiled = p;
    tiled.scale_order = "128x4";
    return check_pair(subject,
                      ProductPair{p, tiled, same_places(shape_of_d(subject.setting(), p))});
}

constexpr Relation gemm_places_listed[] = {
    {"repeated", "gemm", "the same product gives the same answer, whatever was asked between",
     Data::any, always, repeated},
    {"rows_change_places", "gemm", "rows of A and C that change places take rows of D along",
     Data::any, always, rows_change_places},
    {"columns_change_places", "gemm", "rows of B that change places take columns of D along",
     Data::any, always, columns_change_places},
    {"batches_stand_alone", "gemm", "a batch alone is the batch among others", Data::any, always,
     batches_stand_alone},
    {"rows_stand_alone", "gemm", "a row of A alone gives its row of D", Data::any, always,
     rows_stand_alone},
    {"factors_change_places", "gemm", "B times A^T is A times B^T, transposed", Data::any, always,
     factors_change_places},
    {"zeros_add_nothing", "gemm", "zeros that K is made longer by change nothing", Data::numbers,
     always, zeros_add_nothing},
    {"k_changes_places", "gemm", "sums without a rounding hang on no order of K", Data::numbers,
     knows_no_one, k_changes_places},
    {"k_splits", "gemm", "sums without a rounding can be cut in two, the first one C of the second",
     Data::numbers, knows_no_one, k_splits},
    {"layouts_agree", "gemm", "scales in tiles of 128x4 are those in rows", Data::any,
     has_no_block_scales, layouts_agree},
};

}  // namespace

std::span<const Relation> gemm_place_relations() {
    return gemm_places_listed;
}

}  // namespace mx::relation
