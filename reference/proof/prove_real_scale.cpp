// fast/real_scale.hpp: scales and elements of every recipe. Where a step of a recipe is monotone,
// whole input types are swept; binary32 arithmetic itself is compared on 16-bit types and on all
// pairs of a list that holds the ends and neighbours of every kind of number.
#include <algorithm>
#include <ranges>

#include "reference/exact/real_scale.hpp"
#include "reference/proof/prove_real_scale.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

// binary32: zeros, subnormals, normal numbers about their borders, Inf and NaN, both signs.
std::vector<std::uint32_t> notable_codes() {
    std::vector<std::uint32_t> codes{0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x003FFFFF,
                                     0x00400000, 0x00400001, 0x007FFFFF, 0x7F800000, 0x7FC00000};
    for (const std::uint32_t field :
         {1u, 2u, 24u, 25u, 103u, 121u, 126u, 127u, 128u, 138u, 151u, 230u, 253u, 254u})
        for (const std::uint32_t mantissa : {0x000000u, 0x000001u, 0x2AAAABu, 0x400000u, 0x7FFFFFu})
            codes.push_back(field << 23 | mantissa);
    const std::size_t positive = codes.size();
    for (std::size_t i = 0; i < positive; ++i) codes.push_back(codes[i] | 0x80000000);
    return codes;
}

std::uint32_t f32_code(const exact::Value& value) {
    return exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value).bits;
}

// The same; a guess that is right, as its exact value shows, spares the search for the code.
std::uint32_t f32_code(const exact::Value& value, std::uint32_t guess) {
    const exact::Value guessed = exact::f32_of_code(guess);
    const bool is_right = value.is_finite() && guessed.is_finite() &&
                          value.negative == guessed.negative &&
                          value.magnitude == guessed.magnitude;
    return is_right ? guess : f32_code(value);
}

enum class Operation { product, quotient, sum };

exact::Value exact_value(Operation operation, std::uint32_t left, std::uint32_t right) {
    const exact::Value a = exact::f32_of_code(left), b = exact::f32_of_code(right);
    if (operation == Operation::product) return exact::product(a, b);
    return operation == Operation::quotient ? exact::quotient(a, b) : exact::sum(a, b);
}

std::uint32_t exact_result(Operation operation, std::uint32_t left, std::uint32_t right) {
    return f32_code(exact_value(operation, left, right));
}

std::uint32_t fast_result(Operation operation, std::uint32_t left, std::uint32_t right) {
    const fast::Unpacked a = fast::unpack(formats::f32, Code{left});
    const fast::Unpacked b = fast::unpack(formats::f32, Code{right});
    if (operation == Operation::product) return fast::f32_code(fast::product(a, b));
    return fast::f32_code(operation == Operation::quotient ? fast::quotient(a, b)
                                                           : fast::sum(a, b));
}

Report prove_pairs(Operation operation, int threads) {
    const std::vector<std::uint32_t> codes = notable_codes();
    const std::uint32_t count = static_cast<std::uint32_t>(codes.size());
    return compare_everywhere(
        count * count, threads,
        [&](std::uint32_t i) {
            return exact_result(operation, codes[i / count], codes[i % count]);
        },
        [&](std::uint32_t i) {
            return fast_result(operation, codes[i / count], codes[i % count]);
        });
}

// A constant of the recipes with which every number is combined.
struct ConstantCase {
    std::string_view name;
    Operation operation;
    std::uint32_t constant;
    bool constant_is_left;
};
constexpr std::array<ConstantCase, 8> constant_cases{{
    {"1/x", Operation::quotient, 0x3F800000, true},
    {"2688/x", Operation::quotient, 0x45280000, true},
    {"1536/x", Operation::quotient, 0x44C00000, true},
    {"448/x", Operation::quotient, 0x43E00000, true},
    {"x/6", Operation::quotient, 0x40C00000, false},
    {"x/2688", Operation::quotient, 0x45280000, false},
    {"x*f32(1/6)", Operation::product, 0x3E2AAAAB, false},
    {"x+(1+2^-23)", Operation::sum, 0x3F800001, false},
}};

std::uint32_t left_of(const ConstantCase& c, std::uint32_t code) {
    return c.constant_is_left ? c.constant : code;
}
std::uint32_t right_of(const ConstantCase& c, std::uint32_t code) {
    return c.constant_is_left ? code : c.constant;
}

Report prove_constants_bf16(int threads) {
    std::vector<Report> parts;
    for (const ConstantCase& c : constant_cases)
        parts.push_back(compare_everywhere(
            1u << 16, threads,
            [&](std::uint32_t i) {
                return exact_result(c.operation, left_of(c, i << 16), right_of(c, i << 16));
            },
            [&](std::uint32_t i) {
                return fast_result(c.operation, left_of(c, i << 16), right_of(c, i << 16));
            }));
    return joined(parts);
}

// The 2^23 numbers from 1 to 2. What differs between neighbours are the low bits of the result, so
// nearly every one is another result and no run of equal ones spares a question: each is asked, and
// that takes minutes.
Report prove_constant_f32(const ConstantCase& c, int threads) {
    constexpr std::uint32_t one = 0x3F800000;
    return compare_everywhere(
        1u << 23, threads,
        [&](std::uint32_t i) {
            const std::uint32_t left = left_of(c, one | i), right = right_of(c, one | i);
            return f32_code(exact_value(c.operation, left, right),
                            fast_result(c.operation, left, right));
        },
        [&](std::uint32_t i) {
            return fast_result(c.operation, left_of(c, one | i), right_of(c, one | i));
        });
}

std::vector<Proof> arithmetic_proofs() {
    std::vector<Proof> proofs;
    const std::string notable = std::to_string(notable_codes().size());
    for (const auto& [name, operation] :
         {std::pair{"product", Operation::product}, std::pair{"quotient", Operation::quotient},
          std::pair{"sum", Operation::sum}})
        proofs.push_back(
            {std::string("f32 ") + name, "all pairs of " + notable + " notable codes",
             [operation = operation](int threads) { return prove_pairs(operation, threads); }});
    proofs.push_back(
        {"f32 constants bf16", "all 2^16 codes x 8 constants of recipes", prove_constants_bf16});
    for (const ConstantCase& c : constant_cases)
        proofs.push_back({"f32 constant " + std::string(c.name), "all 2^23 mantissas of f32",
                          [&c](int threads) { return prove_constant_f32(c, threads); },
                          Effort::whole_set});
    return proofs;
}

// Both oracles' view of one recipe, format, input type and tensor.
struct Setting {
    const Quantizer& recipe;
    const BlockFormat& format;
    const ElementFormat& input;
    std::uint32_t tensor_amax;  // binary32; the scale itself for a recipe with a history

    exact::TensorNumbers exact_tensor() const {
        const exact::Value number = exact::f32_of_code(tensor_amax);
        return exact::tensor_numbers(recipe, format, number, number);
    }
    fast::BlockQuestion fast_question() const {
        const fast::Unpacked number = fast::unpack(formats::f32, Code{tensor_amax});
        return {recipe, format, input, fast::tensor_numbers(recipe, format, number, number)};
    }
};

// Every magnitude of bfloat16 as the amax of a block: the stored scale and the factor. Few codes of
// E4M3 make runs; binary32 scales differ from one amax to the next.
Report prove_scales(const Setting& setting, int threads) {
    const exact::TensorNumbers tensor = setting.exact_tensor();
    const fast::BlockQuestion question = setting.fast_question();
    constexpr std::uint32_t f32_of_one = 0x3F800000;
    // A lane that is divided by the scale itself has no other number.
    const Inverse inverse = setting.recipe.inverse;
    const bool has_factor = inverse != Inverse::divided && inverse != Inverse::divided_if_finite;
    const auto exact_scale = [&](std::uint32_t bits) {
        const exact::BlockScale scale =
            exact::block_scale({setting.recipe, setting.format, setting.input, tensor},
                               exact::decode(formats::bf16, Code{bits}));
        return hashed(scale.stored.bits, has_factor ? f32_code(scale.factor) : f32_of_one);
    };
    const auto fast_scale = [&](std::uint32_t bits) {
        const fast::BlockScale scale =
            fast::block_scale(question, fast::unpack(formats::bf16, Code{bits}));
        return hashed(scale.stored.bits, has_factor ? fast::f32_code(scale.factor) : f32_of_one);
    };
    const std::uint32_t first_nan = formats::bf16.code_infinity() + 1;
    if (setting.format.scale().code_bits() > 8)
        return compare_everywhere(first_nan + 1, threads, exact_scale, fast_scale);
    return sweep(exact::runs_of(0, first_nan, exact_scale), threads, fast_scale);
}

// The first code of a sign whose quotient a row takes for no number because it is infinite; one
// behind infinity where there is none.
std::uint32_t first_lost_lane(const exact::BlockQuestion& asked, const exact::BlockScale& scale,
                              std::uint32_t sign) {
    const ElementFormat& input = asked.input;
    const std::uint32_t behind = (sign | input.code_infinity()) + 1;
    if (asked.quantizer.inverse != Inverse::divided_if_finite) return behind;
    const auto codes = std::views::iota(sign, behind);
    const auto lost = std::ranges::partition_point(codes, [&](std::uint32_t code) {
        return !exact::scaled_lane(asked.quantizer, scale, exact::decode(input, Code{code}))
                    .is_nan();
    });
    return lost == codes.end() ? behind : *lost;
}

// Every code of an input type as a lane, under the scale of one amax: runs of equal elements.
Report prove_lanes(const Setting& setting, std::uint32_t amax, RandomBits random, int threads) {
    const exact::TensorNumbers tensor = setting.exact_tensor();
    const exact::BlockQuestion asked{setting.recipe, setting.format, setting.input, tensor};
    const exact::BlockScale exact_scale = exact::block_scale(asked, exact::f32_of_code(amax));
    const auto ask = [&](std::uint32_t bits) {
        return exact::quantize_lane(asked, exact_scale, exact::decode(setting.input, Code{bits}),
                                    random)
            .bits;
    };
    std::vector<exact::Run> runs;
    const ElementFormat& input = setting.input;
    for (const std::uint32_t sign : {std::uint32_t{0}, input.code_sign_mask()}) {
        // Elements rise with their lanes up to those that are lost.
        const std::uint32_t lost = first_lost_lane(asked, exact_scale, sign);
        const std::uint32_t behind = (sign | input.code_infinity()) + 1;
        if (lost != sign) append_runs(runs, exact::runs_of(sign, lost - 1, ask));
        if (lost != behind) append_runs(runs, exact::runs_of(lost, behind - 1, ask));
        append_runs(runs, exact::runs_of(sign | (input.code_infinity() + 1),
                                         sign | input.code_magnitude_mask(), ask));
    }
    const fast::BlockQuestion question = setting.fast_question();
    const fast::BlockScale scale =
        fast::block_scale(question, fast::unpack(formats::f32, Code{amax}));
    return sweep(runs, threads, [&](std::uint32_t bits) {
        return std::uint64_t{
            fast::quantize_lane(question, scale, fast::unpack(question.input, Code{bits}), random)
                .bits};
    });
}

// Block amax values that give scales all over the range of E4M3 beside a tensor amax of 3. Elements
// of 8 bits have so many borders that fewer must do.
std::vector<std::uint32_t> spread_amax(const ElementFormat& element) {
    std::vector<std::uint32_t> codes{0x00000000, 0x7F800000};
    const std::uint32_t step = element.code_bits() == 8 ? 8 : 1;
    for (std::uint32_t field = 105; field <= 129; field += step)
        for (const std::uint32_t mantissa : {0x000000u, 0x355555u, 0x7FFFFFu})
            codes.push_back(field << 23 | mantissa);
    return codes;
}

const BlockFormat& first_format_of(const Quantizer& recipe) {
    for (const BlockFormat& format : real_scale_formats)
        if (recipe.quantizes(format)) return format;
    return real_scale_formats.front();
}

constexpr std::uint32_t f32_3 = 0x40400000;

Report prove_recipe_scales(const Quantizer& recipe, int threads) {
    std::vector<Report> parts;
    if (recipe.tensor_scale == TensorScale::none)
        return prove_scales({recipe, first_format_of(recipe), formats::bf16, f32_3}, threads);
    for (const std::uint32_t tensor :
         {0x00000000u, 0x00000001u, 0x3F800000u, 0x40400000u, 0x7F7FFFFFu, 0x7F800000u})
        parts.push_back(prove_scales(
            {recipe, first_format_of(recipe), formats::bf16, static_cast<std::uint32_t>(tensor)},
            threads));
    return joined(parts);
}

Report prove_recipe_lanes(const Quantizer& recipe, int threads) {
    const std::vector<std::uint32_t> amax = spread_amax(first_format_of(recipe).element());
    const bool is_stochastic = recipe.element_rounding == Rounding::stochastic;
    std::vector<Report> parts(amax.size());
    parallel_for(amax.size(), threads, [&](std::size_t i) {
        const RandomBits random{static_cast<std::uint32_t>(i * 37 % 256), is_stochastic ? 8 : 0};
        parts[i] = prove_lanes({recipe, first_format_of(recipe), formats::bf16, f32_3}, amax[i],
                               random, 1);
    });
    return joined(parts);
}

// Every byte of random bits over every lane, for one scale.
Report prove_random_bits(const Quantizer& recipe, int threads) {
    std::vector<Report> parts(256);
    parallel_for(parts.size(), threads, [&](std::size_t bits) {
        parts[bits] = prove_lanes({recipe, first_format_of(recipe), formats::bf16, f32_3},
                                  0x3FD55555, {static_cast<std::uint32_t>(bits), 8}, 1);
    });
    return joined(parts);
}

// What quantize_lane reads of a recipe, besides the numbers of one scale.
struct LaneRules {
    Quantizer element_rules;
    SignOfZero sign_of_zero;
    bool divides;  // by the scale, where others multiply by a factor
    bool loses_infinity;
    std::string_view element;
    friend bool operator==(const LaneRules&, const LaneRules&) = default;
};

LaneRules lane_rules(const Quantizer& recipe) {
    return {rules_after_product(recipe), recipe.sign_of_zero, recipe.divides_lanes(),
            recipe.inverse == Inverse::divided_if_finite, first_format_of(recipe).element().name};
}

// Recipes with the same rules are one and the same function of a lane: all 2^32 of them are asked
// under the scale of the first.
std::vector<std::string_view> recipes_like(const Quantizer& recipe) {
    std::vector<std::string_view> names;
    for (const Quantizer& other : real_scale_quantizers)
        if (lane_rules(other) == lane_rules(recipe)) names.push_back(other.name);
    return names;
}

Proof f32_lanes_proof(const Quantizer& recipe) {
    std::string domain = "all 2^32 codes under one scale:";
    for (const std::string_view name : recipes_like(recipe)) domain += " " + std::string(name);
    return {"recipe elements " + std::string(recipe.name) + " f32", domain,
            [&recipe](int threads) {
                return prove_lanes({recipe, first_format_of(recipe), formats::f32, f32_3},
                                   0x3FD55555, {91, 8}, threads);
            },
            Effort::whole_set};
}

}  // namespace

std::vector<Proof> recipe_proofs() {
    std::vector<Proof> proofs = arithmetic_proofs();
    for (const Quantizer& recipe : real_scale_quantizers) {
        const std::string name(recipe.name);
        proofs.push_back({"recipe scales " + name, "all bf16 magnitudes x 1 or 6 tensor amax",
                          [&recipe](int threads) { return prove_recipe_scales(recipe, threads); }});
        proofs.push_back({"recipe elements " + name,
                          "all 2^16 bf16 codes x amax in and beyond the range of the scale",
                          [&recipe](int threads) { return prove_recipe_lanes(recipe, threads); }});
        if (recipe.element_rounding == Rounding::stochastic)
            proofs.push_back(
                {"recipe random bits " + name, "all 2^16 bf16 codes x 256 bytes of bits",
                 [&recipe](int threads) { return prove_random_bits(recipe, threads); }});
        if (recipes_like(recipe).front() == recipe.name) proofs.push_back(f32_lanes_proof(recipe));
    }
    for (Proof& proof : recipe_block_proofs()) proofs.push_back(std::move(proof));
    return proofs;
}

}  // namespace mx::proof
