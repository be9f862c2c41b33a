// What the maxima make of NaN and of zeros, on either side: float32 beside a few partners, and all
// pairs of bfloat16 and of binary16. CUDA's fmaxf is max.f32; __hmax2 is max of pairs, __hmax2_nan
// is max.NaN.
#include <cstdio>

#include "device/cuda/facts/exact.cuh"
#include "device/cuda/facts/instructions.cuh"
#include "device/cuda/facts/measure.cuh"

namespace mx::cuda::facts {
namespace {

enum class Nan { passed_over, wins };
enum class Sign { of_the_larger, xor_of_both };

struct Type {
    const char* name;
    std::uint32_t sign_bit;
    std::uint32_t infinity;
};
constexpr Type f32{"f32", 0x80000000, 0x7F800000};
constexpr Type f16{"f16x2", 0x8000, 0x7C00};
constexpr Type bf16{"bf16x2", 0x8000, 0x7F80};

// The claim: two NaNs give the positive NaN of all ones, and +0 is above -0.
struct MaxRule {
    Type type;
    Nan nan;
    Sign sign;

    __device__ bool is_nan(std::uint32_t code) const {
        return (code & ~type.sign_bit) > type.infinity;
    }
    // Grows with the value.
    __device__ std::uint32_t order_of(std::uint32_t code) const {
        const std::uint32_t all = type.sign_bit | (type.sign_bit - 1);
        return (code & type.sign_bit) != 0 ? ~code & all : code | type.sign_bit;
    }
    __device__ std::uint32_t larger(std::uint32_t a, std::uint32_t b) const {
        if (is_nan(a)) return b;
        if (is_nan(b)) return a;
        return order_of(a) > order_of(b) ? a : b;
    }
    __device__ std::uint32_t of(std::uint32_t a, std::uint32_t b) const {
        const std::uint32_t magnitudes = ~type.sign_bit;
        const bool is_lost = nan == Nan::wins ? is_nan(a) || is_nan(b) : is_nan(a) && is_nan(b);
        if (is_lost) return type.sign_bit - 1;
        if (sign == Sign::of_the_larger) return larger(a, b);
        return larger(a & magnitudes, b & magnitudes) | ((a ^ b) & type.sign_bit);
    }
};

// The instruction with a partner on either side; a pattern that no rule gives if that matters.
template <typename Instruction>
struct BesideOnEitherSide {
    std::uint32_t partner;
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        const std::uint32_t result = Instruction::of(input, partner);
        return result == Instruction::of(partner, input) ? result : 0xFFDEADFFu;
    }
};
struct RuleBeside {
    MaxRule rule;
    std::uint32_t partner;
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return rule.of(input, partner);
    }
};

// A pattern is a pair of 16 bits, and the lanes of the instruction take it in both orders.
template <typename Instruction>
struct PairInBothOrders {
    __device__ std::uint32_t operator()(std::uint32_t pair) const {
        return Instruction::of(pair, pair << 16 | pair >> 16);
    }
};
struct RuleInBothOrders {
    MaxRule rule;
    __device__ std::uint32_t operator()(std::uint32_t pair) const {
        const std::uint32_t low = pair & 0xFFFFu;
        const std::uint32_t high = pair >> 16;
        return rule.of(low, high) | rule.of(high, low) << 16;
    }
};

struct Kind {
    const char* id;
    Nan nan;
    Sign sign;
    const char* sentence;
};
constexpr Kind kinds[] = {
    {"max", Nan::passed_over, Sign::of_the_larger, "the larger, and the number beside a NaN"},
    {"max.NaN", Nan::wins, Sign::of_the_larger, "the larger, and NaN beside a NaN"},
    {"max.xorsign.abs", Nan::passed_over, Sign::xor_of_both,
     "the larger magnitude, the number's beside a NaN, both signs xored"},
    {"max.NaN.xorsign.abs", Nan::wins, Sign::xor_of_both,
     "the larger magnitude, both signs xored, and NaN beside a NaN"},
};

struct Partner {
    const char* id;
    std::uint32_t code;
};
constexpr Partner partners[] = {
    {"number", 0xBF800000}, {"quiet", 0x7FC00000}, {"signalling", 0xFF800001}};

template <typename Instruction>
void add_f32(Facts& facts, const Kind& kind, const char* determines) {
    const std::string name = kind.id + std::string(".") + f32.name;
    for (const Partner& partner : partners) {
        char code[16];
        std::snprintf(code, sizeof code, "0x%08X", partner.code);
        facts.push_back(fact({name + "." + partner.id,
                              name + "(x, " + code + "), in either order, is " + kind.sentence,
                              determines, all_patterns},
                             BesideOnEitherSide<Instruction>{partner.code},
                             RuleBeside{{f32, kind.nan, kind.sign}, partner.code}));
    }
}

template <typename Instruction>
void add_pairs(Facts& facts, const Kind& kind, const Type& type, const char* determines) {
    const std::string name = std::string(kind.id) + "." + type.name;
    facts.push_back(
        fact({name, name + " of every pair is " + kind.sentence, determines, all_patterns},
             PairInBothOrders<Instruction>{}, RuleInBothOrders{{type, kind.nan, kind.sign}}));
}

// A kernel that clamps before it converts gives a NaN one of its bounds: the one applied first.
struct Clamped {
    enum class First { lower, upper } first;
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        const float x = __uint_as_float(input);
        const float y = first == First::lower ? fminf(fmaxf(x, -448.0f), 448.0f)
                                              : fmaxf(fminf(x, 448.0f), -448.0f);
        return __float_as_uint(y);
    }
};

}  // namespace

Facts facts_about_maxima() {
    Facts facts;
    add_f32<Max>(facts, kinds[0], "nv, megatron-round-up, triton-round-down");
    add_f32<MaxNan>(facts, kinds[1], "");
    add_f32<MaxXorsign>(facts, kinds[2], "");
    add_f32<MaxNanXorsign>(facts, kinds[3], "");
    add_pairs<MaxF16>(facts, kinds[0], f16, "");
    add_pairs<MaxNanF16>(facts, kinds[1], f16, "");
    add_pairs<MaxXorsignF16>(facts, kinds[2], f16, "te-specialised");
    add_pairs<MaxNanXorsignF16>(facts, kinds[3], f16, "");
    add_pairs<MaxBf16>(facts, kinds[0], bf16, "flashinfer");
    add_pairs<MaxNanBf16>(facts, kinds[1], bf16, "");
    add_pairs<MaxXorsignBf16>(facts, kinds[2], bf16, "te-specialised");
    add_pairs<MaxNanXorsignBf16>(facts, kinds[3], bf16, "");
    facts.push_back(fact({"clamp.lower", "fminf(fmaxf(NaN, -448), 448) is -448", "", nans},
                         Clamped{Clamped::First::lower}, Always{0xC3E00000}));
    facts.push_back(fact({"clamp.upper", "fmaxf(fminf(NaN, 448), -448) is 448", "", nans},
                         Clamped{Clamped::First::upper}, Always{0x43E00000}));
    return facts;
}

}  // namespace mx::cuda::facts
