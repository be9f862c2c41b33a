// Reciprocals, quotients by the largest element of a format, and the scale bytes they lead to.
#include <cuda_fp8.h>

#include <array>
#include <bit>

#include "device/cuda/facts/exact.cuh"
#include "device/cuda/facts/instructions.cuh"
#include "device/cuda/facts/measure.cuh"

namespace mx::cuda::facts {
namespace {

struct Maximum {
    const char* name;
    float value;
    std::uint32_t inverse;  // 1 / value, rounded to nearest
    const char* divided;    // the rows that divide by it
    // Where div.full is not div.rn: quotients, then bytes.
    std::uint64_t quotients;
    Exceptions up;
    Exceptions down;
    Exceptions converted;

    std::uint32_t bits() const { return std::bit_cast<std::uint32_t>(value); }
};

constexpr const char* triton = "megatron-round-up, triton-round-down";
constexpr std::array maxima{
    Maximum{"448", 448.0f, 0x3B124925, triton, 1130863877, {1, 0xE0}, {246, 0x04DFFFFF}, {}},
    Maximum{"57344", 57344.0f, 0x37924925, triton, 1098707557, {1, 0x7000}, {239, 0x085FFFFF}, {}},
    Maximum{"28", 28.0f, 0x3D124925, "", 1149238917, {1, 0x0E}, {250, 0x02DFFFFF}, {}},
    Maximum{"7.5", 7.5f, 0x3E088889, "", 1363927128, {}, {252, 0x01EFFFFF}, {}},
    Maximum{"6", 6.0f, 0x3E2AAAAB, "", 706041007, {1, 0x03}, {1, 0x01BFFFFF}, {}},
    Maximum{"127/64",
            127.0f / 64.0f,
            0x3F010204,
            "nv (mxint8)",
            99487774,
            {254, 0x00FE0001},
            {},
            {254, 0x007F0001}},
    Maximum{"1.75", 1.75f, 0x3F124925, "", 1165816397, {}, {254, 0x00DFFFFF}, {}},
    Maximum{"127", 127.0f, 0x3C010204, "", 97233724, {248, 0x03FE0001}, {}, {249, 0x037E0002}},
    Maximum{"240", 240.0f, 0x3B888889, "", 1337383189, {1, 0x78}, {247, 0x046FFFFF}, {}},
};

// Checked where this is compiled: the constants that rows of the dialect table multiply by.
constexpr bool inverses_are_rounded() {
    for (const Maximum& m : maxima)
        if (std::bit_cast<std::uint32_t>(1.0f / m.value) != m.inverse) return false;
    return true;
}
static_assert(inverses_are_rounded());

// A quotient no more than one ulp from the one rounded to nearest is itself, else the latter.
struct QuotientWithinOneUlp {
    QuotientFull full;
    QuotientRounded rounded;
    __device__ std::uint32_t operator()(std::uint32_t amax) const {
        const std::uint32_t right = rounded(amax);
        const std::uint32_t left = full(amax);
        return left + 1 - right <= 2 ? left : right;
    }
};

// How far rcp.approx lies from the reciprocal rounded to nearest, in ulp: 0, 1, ..., or -1, ...
struct ReciprocalDistance {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return ReciprocalApproximated{}(input)-ReciprocalRounded{}(input);
    }
};
// 1 where the distance is `distance`.
struct IsAtDistance {
    int distance;
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return static_cast<int>(ReciprocalDistance{}(input)) == distance ? 1 : 0;
    }
};
struct DistanceAtMostOne {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        const auto distance = static_cast<int>(ReciprocalDistance{}(input));
        return static_cast<std::uint32_t>(max(-1, min(distance, 1)));
    }
};

struct PowerInverted {
    __device__ std::uint32_t operator()(std::uint32_t input) const { return 0x7F000000u - input; }
};

// The scale byte of a ratio: its exponent field, rounded up or not, and CUDA's own conversion.
template <typename Ratio>
struct ByteUp {
    Ratio ratio;
    __device__ std::uint32_t operator()(std::uint32_t amax) const {
        return (ratio(amax) + 0x007FFFFFu) >> 23 & 0xFFu;
    }
};
template <typename Ratio>
struct ByteDown {
    Ratio ratio;
    __device__ std::uint32_t operator()(std::uint32_t amax) const { return ratio(amax) >> 23; }
};
template <typename Ratio>
struct ByteConverted {
    Ratio ratio;
    __device__ std::uint32_t operator()(std::uint32_t amax) const {
        return __nv_cvt_float_to_e8m0(__uint_as_float(ratio(amax)), __NV_SATFINITE,
                                      cudaRoundPosInf);
    }
};

void add_reciprocals(Facts& facts) {
    Domain values;
    for (const Maximum& m : maxima) values.push_back({m.bits()});
    const Domain mantissas{{0x3F800000, 0x00800000}};
    const Domain normal_powers{{0x00800000, 253, 0x00800000}};
    const std::string kernels = "flashinfer, flashinfer-cute";
    facts.push_back(fact({"rcp.maxima",
                          "rcp.approx.ftz(M) is RN(1/M), M = 448, 57344, 28, 7.5, 6, 127/64, "
                          "1.75, 127, 240",
                          "flashinfer", values},
                         ReciprocalApproximated{}, ReciprocalRounded{}));
    facts.push_back(fact(
        {"rcp.mantissas", "rcp.approx.ftz(x) is RN(1/x), x in [1, 2)", "", mantissas, {1108522}},
        ReciprocalApproximated{}, ReciprocalRounded{}));
    facts.push_back(fact({"rcp.mantissas.low",
                          "rcp.approx.ftz(x) is not one ulp below RN(1/x), x in [1, 2)",
                          "",
                          mantissas,
                          {374723}},
                         IsAtDistance{-1}, Always{0}));
    facts.push_back(fact({"rcp.mantissas.high",
                          "rcp.approx.ftz(x) is not one ulp above RN(1/x), x in [1, 2)",
                          "",
                          mantissas,
                          {733799}},
                         IsAtDistance{1}, Always{0}));
    facts.push_back(
        fact({"rcp.mantissas.ulp", "rcp.approx.ftz(x) is at most one ulp from RN(1/x), x in [1, 2)",
              "", mantissas},
             ReciprocalDistance{}, DistanceAtMostOne{}));
    facts.push_back(
        fact({"rcp.powers", "rcp.approx.ftz(2^k) is 2^-k, k = -126..126", kernels, normal_powers},
             ReciprocalApproximated{}, PowerInverted{}));
    facts.push_back(fact({"rcp.2^127", "rcp.approx.ftz(2^127) is 0", kernels, {{0x7F000000}}},
                         ReciprocalApproximated{}, Always{0}));
    facts.push_back(fact({"rcp.2^-127", "rcp.approx.ftz(2^-127) is +Inf", kernels, {{0x00400000}}},
                         ReciprocalApproximated{}, Always{0x7F800000}));
}

void add_quotients(Facts& facts, const Maximum& m) {
    const QuotientFull full{m.bits()};
    const QuotientRounded rounded{m.bits()};
    const auto add = [&](const std::string& id, const std::string& sentence,
                         const Exceptions& exceptions, auto left, auto right) {
        facts.push_back(fact({"div." + std::string(m.name) + "." + id, sentence + ", M = " + m.name,
                              m.divided, finite_magnitudes, exceptions},
                             left, right));
    };
    add("full", "div.full(a, M) is a * RN(1/M)", {}, full, Product{m.inverse});
    add("approx", "div.approx(a, M) is a * RN(1/M)", {}, QuotientApproximated{m.bits()},
        Product{m.inverse});
    add("rounded", "div.full(a, M) is div.rn(a, M)", {m.quotients}, full, rounded);
    add("ulp", "div.full(a, M) is at most one ulp from div.rn(a, M)", {}, full,
        QuotientWithinOneUlp{full, rounded});
    add("up", "the byte of div.full(a, M), rounded up in the bits, is that of div.rn", m.up,
        ByteUp<QuotientFull>{full}, ByteUp<QuotientRounded>{rounded});
    add("down", "the byte of div.full(a, M), cut out of the bits, is that of div.rn", m.down,
        ByteDown<QuotientFull>{full}, ByteDown<QuotientRounded>{rounded});
    add("converted", "the byte of div.full(a, M), by CUDA's conversion up, is that of div.rn",
        m.converted, ByteConverted<QuotientFull>{full}, ByteConverted<QuotientRounded>{rounded});
}

// What a build with --use_fast_math makes of the product with RN(1/M).
void add_flushed_products(Facts& facts) {
    struct Row {
        const char* name;
        std::uint32_t inverse;
        std::uint32_t first;
    };
    for (const Row& row :
         {Row{"448", 0x3B124925, 0x04600002}, Row{"57344", 0x37924925, 0x07E00002}})
        facts.push_back(fact(
            {"flushed." + std::string(row.name) + ".converted",
             "the byte of a * RN(1/M) flushed is that of the product, M = " + std::string(row.name),
             "flashinfer",
             finite_magnitudes,
             {8388605, row.first}},
            ByteConverted<ProductFlushed>{{row.inverse}}, ByteConverted<Product>{{row.inverse}}));
}

}  // namespace

Facts facts_about_reciprocals() {
    Facts facts;
    add_reciprocals(facts);
    for (const Maximum& m : maxima) add_quotients(facts, m);
    add_flushed_products(facts);
    return facts;
}

}  // namespace mx::cuda::facts
