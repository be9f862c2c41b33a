// The relations of gemm that are about numbers: scales, signs, alpha, C, the bias, relu.
#include "conformance/relation/facts.hpp"
#include "conformance/relation/gemm_pair.hpp"
#include "reference/spec/formats.hpp"

namespace mx::relation {
namespace {

// Two products whose outputs stand in the same places, and what the second ones must be.
struct Predicted {
    Product first, second;
    bool (*holds)(const ElementFormat& type, Code first, Code second);
};

Expected<Finding> check(Subject& subject, const Predicted& pair) {
    const auto first = multiply(subject, pair.first), second = multiply(subject, pair.second);
    if (!first || !second) return first ? second.error() : first.error();
    const ElementFormat& type = *find_element_format(subject.setting().values);
    Finding finding;
    for (std::size_t i = 0; i < first.value().count(); ++i) {
        const std::uint32_t one = first.value().at(i), other = second.value().at(i);
        const auto at = static_cast<std::int64_t>(i);
        expect(finding, pair.holds(type, Code{one}, Code{other}),
               {"output", at / first.value().columns, at % first.value().columns, one, other});
    }
    finding.first = text_of(pair.first);
    finding.second = text_of(pair.second);
    return finding;
}

// Of what is normal before and after; everything else is let pass.
bool is_doubled(const ElementFormat& type, Code first, Code second) {
    const std::uint32_t field = (first.bits & type.code_infinity()) >> type.mantissa_bits;
    const std::uint32_t last = type.code_infinity() >> type.mantissa_bits;
    if (field == last) return (second.bits & type.code_infinity()) == type.code_infinity();
    if (field == 0 || field >= last - 1) return true;
    return second.bits == first.bits + (1u << type.mantissa_bits);
}

bool is_negated(const ElementFormat& type, Code first, Code second) {
    if (type.is_nan(first)) return type.is_nan(second);
    return type.is_zero(first) ? type.is_zero(second)
                               : second.bits == (first.bits ^ type.code_sign_mask());
}

// Which are numbers below 0 become 0; NaN stays.
bool is_cut_at_zero(const ElementFormat& type, Code first, Code second) {
    if (type.is_nan(first)) return type.is_nan(second);
    return type.is_negative(first) || type.is_zero(first) ? type.is_zero(second) : first == second;
}

Expected<Product> with_signs_of_a_changed(Product p) {
    const ElementFormat* format = find_element_format(p.a.type);
    if (format == nullptr)
        return bad_input("no table here has type '" + p.a.type + "', so its sign is not known");
    const std::uint32_t sign = format->code_sign_mask();
    for (std::size_t i = 0; i < p.a.count(); ++i) p.a.set(i, p.a.at(i) ^ sign);
    return p;
}

enum class Step { up, down };
void step_scales(CodeTensor& scales, Step step) {
    const std::uint32_t unit = scales.type == "f32" ? 1u << 23 : 1u;
    for (std::size_t i = 0; i < scales.count(); ++i)
        scales.set(i, step == Step::up ? scales.at(i) + unit : scales.at(i) - unit);
}

Expected<Finding> a_step_of_scale_doubles(Subject& subject, const Sample& sample) {
    const Product p = make_product(subject.setting(), sample, {Factors::any, 1});
    Product larger = p;
    step_scales(larger.scales_a, Step::up);
    return check(subject, Predicted{p, larger, is_doubled});
}

Expected<Finding> scales_make_up(Subject& subject, const Sample& sample) {
    const Product p = make_product(subject.setting(), sample, {Factors::any, 1});
    Product other = p;
    step_scales(other.scales_a, Step::up);
    step_scales(other.scales_b, Step::down);
    return check_pair(subject,
                      ProductPair{p, other, same_places(shape_of_d(subject.setting(), p))});
}

Expected<Finding> signs_pass_through(Subject& subject, const Sample& sample) {
    const Product p = make_product(subject.setting(), sample, {Factors::any, 1});
    const auto negative = with_signs_of_a_changed(p);
    if (!negative) return negative.error();
    return check(subject, Predicted{p, negative.value(), is_negated});
}

Expected<Finding> alpha_takes_the_sign(Subject& subject, const Sample& sample) {
    const Product p = make_product(subject.setting(), sample, {Factors::exact, 1});
    auto negative = with_signs_of_a_changed(p);
    if (!negative) return negative.error();
    negative.value().alpha ^= minus_f32;
    return check_pair(
        subject, ProductPair{p, negative.value(), same_places(shape_of_d(subject.setting(), p))});
}

Expected<Finding> alpha_doubles(Subject& subject, const Sample& sample) {
    Product p = make_product(subject.setting(), sample, {Factors::any, 1});
    p.alpha = odd_alpha;
    Product twice = p;
    twice.alpha += two_f32 - one_f32;
    return check(subject, Predicted{p, twice, is_doubled});
}

// Where A is zeros, D is C.
Expected<Finding> c_is_added(Subject& subject, const Sample& sample) {
    Product p = whole_product(subject.setting(), sample, 2);
    for (std::size_t i = 0; i < p.a.count(); ++i) p.a.set(i, 0);
    const Product numbers = make_product(subject.setting(), sample, {Factors::numbers, 2});
    p.b = numbers.b;
    p.c.set(0, find_element_format(p.c.type)->code_infinity() | 1u);  // a NaN stays one
    const auto d = multiply(subject, p);
    if (!d) return d.error();
    CodeTensor c = p.c;
    join_nans(c);
    Finding finding;
    compare(finding, {"output", d.value(), c});
    finding.first = text_of(p);
    finding.second = "C itself";
    return finding;
}

Expected<Finding> bias_is_a_row_of_c(Subject& subject, const Sample& sample) {
    Product p = make_product(subject.setting(), sample, {Factors::numbers, 1});
    Random random(sample.seed ^ 0xB);
    p.alpha = two_f32;  // exact, so that no machine rounds the product before C or the bias
    Product with_c = p;
    p.epilogue = "bias";
    p.bias = make_numbers(subject.setting(), {0, 0, 1, sample.extents.n}, random);
    with_c.beta = one_f32;
    with_c.c = shape_of_d(subject.setting(), p);
    for (std::size_t i = 0; i < with_c.c.count(); ++i)
        with_c.c.set(i, p.bias.at(i % p.bias.count()));
    return check_pair(subject,
                      ProductPair{p, with_c, same_places(shape_of_d(subject.setting(), p))});
}

Expected<Finding> relu_comes_last(Subject& subject, const Sample& sample) {
    Tally tally;
    for (const char* epilogue : {"relu", "bias-relu"}) {
        Product p = make_product(subject.setting(), sample, {Factors::any, 1});
        Product cut_off = p;
        cut_off.epilogue = epilogue;
        if (cut_off.epilogue != "relu") {
            Random random(sample.seed ^ 0xB);
            p.epilogue = "bias";
            p.bias = make_numbers(subject.setting(), {0, 0, 1, sample.extents.n}, random);
            cut_off.bias = p.bias;
        }
        if (!tally.add(check(subject, Predicted{p, cut_off, is_cut_at_zero}))) break;
    }
    return tally.take();
}

constexpr Relation gemm_numbers_listed[] = {
    {"a_step_of_scale_doubles", "gemm", "scales of A one binade up double D", Data::any,
     has_no_scales, a_step_of_scale_doubles},
    {"scales_make_up", "gemm", "scales of A one binade up and of B one down leave D", Data::any,
     has_no_scales, scales_make_up},
    {"signs_pass_through", "gemm", "A of the other sign gives D of the other sign", Data::any,
     has_no_mirror, signs_pass_through},
    {"alpha_takes_the_sign", "gemm", "a negative alpha is an A of the other sign", Data::any,
     has_no_mirror, alpha_takes_the_sign},
    {"alpha_doubles", "gemm", "twice the alpha is twice the D", Data::any, always, alpha_doubles},
    {"c_is_added", "gemm", "where A is zeros and beta is 1, D is C", Data::numbers, knows_no_one,
     c_is_added},
    {"bias_is_a_row_of_c", "gemm", "a bias is a C whose rows are all alike", Data::numbers,
     scales_round, bias_is_a_row_of_c},
    {"relu_comes_last", "gemm", "relu makes 0 of what is below 0 without it", Data::any, always,
     relu_comes_last},
};

}  // namespace

std::span<const Relation> gemm_number_relations() {
    return gemm_numbers_listed;
}

}  // namespace mx::relation
