// Logarithms and powers as CUDA computes them with its default flags: how often floor and ceil of a
// logarithm are not those of the true one, and whether "rounded once" explains each case.
#include "device/cuda/facts/exact.cuh"
#include "device/cuda/facts/instructions.cuh"
#include "device/cuda/facts/measure.cuh"

namespace mx::cuda::facts {
namespace {

struct Log {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return __float_as_uint(log2f(__uint_as_float(input)));
    }
};
struct Exponential {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return __float_as_uint(exp2f(__uint_as_float(input)));
    }
};

// A finite logarithm as a whole number of two's complement.
template <typename Logarithm>
struct Floored {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return static_cast<std::uint32_t>(
            static_cast<int>(floorf(__uint_as_float(Logarithm{}(input)))));
    }
};
template <typename Logarithm>
struct Ceiled {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return static_cast<std::uint32_t>(
            static_cast<int>(ceilf(__uint_as_float(Logarithm{}(input)))));
    }
};

// floor(log2 x + 1/2), of the true logarithm and of log2f as FBGEMM's `nearest` takes it. 0x3504F3
// is the mantissa of the largest binary32 below the square root of 2.
struct NearestLog {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        const std::uint32_t floor = FloorLog{}(input);
        if (input >> 23 != 0) return floor + ((input & 0x007FFFFFu) > 0x3504F3u ? 1 : 0);
        const std::uint64_t power = std::uint64_t{1} << (31 - __clz(input));
        return floor + (std::uint64_t{input} * input > 2 * power * power ? 1 : 0);
    }
};
struct LogPlusHalf {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return __float_as_uint(log2f(__uint_as_float(input)) + 0.5f);
    }
};

// How far n ulp of x beside 2^k move log2 x: n / (2^23 ln 2) above, half of that below, where ulps
// are half as long. A logarithm of 2^j and more has an ulp of 2^(j - 23), so the result is still
// rounded to k for n up to 2^j ln(2) / 2 above and 2^j ln(2) below. Subnormal ulps do not shrink
// with x, so that fewer of them do. ln(2) in units of 2^-16, rounded down:
constexpr std::uint32_t ln_2 = 45426;

// The largest j with 2^j no more than n.
__device__ inline int whole_log(int n) {
    return 31 - __clz(n);
}

// x below 2^k so near that log2 x, rounded once to nearest, is k: the ulps to the farthest.
__device__ inline std::uint32_t strays_below(int k) {
    if (k == 0 || k == 1) return 0;
    const int j = k > 0 ? whole_log(k - 1) : whole_log(-k);  // |log2 x| is below k, or above -k
    return (ln_2 << j) >> (16 + max(0, -125 - k));
}
// The same above 2^k, where from 2^-127 down an ulp is as long as below.
__device__ inline std::uint32_t strays_above(int k) {
    if (k == 0 || k == -1) return 0;
    const int j = k > 0 ? whole_log(k) : whole_log(-k - 1);
    return (ln_2 << j) >> (17 + max(0, -126 - k));
}

struct FlooredOnceRounded {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        const auto k = static_cast<int>(FloorLog{}(input)) + 1;
        const std::uint32_t distance = power_of_two(k) - input;
        return static_cast<std::uint32_t>(distance <= strays_below(k) ? k : k - 1);
    }
};
struct CeiledOnceRounded {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        const auto k = static_cast<int>(FloorLog{}(input));
        const std::uint32_t distance = input - power_of_two(k);
        return static_cast<std::uint32_t>(distance <= strays_above(k) ? k : k + 1);
    }
};

// The patterns of -160, -159, ..., 159 as binary32 are not evenly spaced: a pattern here is k +
// 160.
struct ExponentialOfWhole {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return Exponential{}(__float_as_uint(static_cast<float>(static_cast<int>(input) - 160)));
    }
};
struct PowerOfWhole {
    __device__ std::uint32_t operator()(std::uint32_t input) const {
        return power_of_two(static_cast<int>(input) - 160);
    }
};

Domain powers_of_two() {
    Domain powers;
    for (unsigned bit = 0; bit < 23; ++bit) powers.push_back({1u << bit});
    powers.push_back({0x00800000, 254, 0x00800000});
    return powers;
}

}  // namespace

Facts facts_about_logarithms() {
    const std::string floors = "microxcaling";
    const std::string ceils = "fbgemm-ceil, model-optimizer-cuda, torchao-rceil-legacy-cuda";
    const std::string once = "is that of the true logarithm rounded once to nearest";
    Facts facts;
    facts.push_back(fact({"log2f.floor",
                          "floor(log2f(x)) is floor(log2 x), x > 0 finite",
                          floors,
                          positive_finite,
                          {7456}},
                         Floored<Log>{}, FloorLog{}));
    facts.push_back(fact({"log2f.floor.once", "floor(log2f(x)) " + once, floors, positive_finite},
                         Floored<Log>{}, FlooredOnceRounded{}));
    facts.push_back(fact({"log2f.ceil",
                          "ceil(log2f(x)) is ceil(log2 x), x > 0 finite",
                          ceils,
                          positive_finite,
                          {3700}},
                         Ceiled<Log>{}, CeilLog{}));
    facts.push_back(fact({"log2f.ceil.once", "ceil(log2f(x)) " + once, ceils, positive_finite},
                         Ceiled<Log>{}, CeiledOnceRounded{}));
    facts.push_back(fact({"log2f.nearest",
                          "floor(log2f(x) + 0.5f) is floor(log2 x + 1/2), x > 0 finite",
                          "fbgemm-nearest",
                          positive_finite,
                          {5439, 0x0002D413}},
                         Floored<LogPlusHalf>{}, NearestLog{}));
    facts.push_back(fact({"lg2.floor",
                          "floor(lg2.approx(x)) is floor(log2 x), x > 0 finite",
                          "",
                          positive_finite,
                          {7537}},
                         Floored<LogApproximated>{}, FloorLog{}));
    facts.push_back(fact({"lg2.ceil",
                          "ceil(lg2.approx(x)) is ceil(log2 x), x > 0 finite",
                          "",
                          positive_finite,
                          {3760}},
                         Ceiled<LogApproximated>{}, CeilLog{}));
    facts.push_back(fact({"lg2.ceil.powers",
                          "ceil(lg2.approx(2^k)) is k, k = -149..127",
                          "",
                          powers_of_two(),
                          {128, 0x00200000}},
                         Ceiled<LogApproximated>{}, CeilLog{}));
    facts.push_back(fact({"exp2f.whole",
                          "exp2f(k) is 2^k, k + 160 = 0..319",
                          "model-optimizer-cuda",
                          {{0, 320}},
                          {1, 33}},
                         ExponentialOfWhole{}, PowerOfWhole{}));
    facts.push_back(
        fact({"exp2f.-127", "exp2f(-127) is 0x003FFFFF", "model-optimizer-cuda", {{0xC2FE0000}}},
             Exponential{}, Always{0x003FFFFF}));
    return facts;
}

}  // namespace mx::cuda::facts
