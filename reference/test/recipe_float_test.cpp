// A third judge of the recipes: the processor's own binary32 arithmetic. Each formula is written
// out once more, and the oracles must give its bits for many random blocks.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "reference/test/recipe_both.hpp"

namespace mx {
namespace {

using namespace recipe_test;

constexpr float largest = std::numeric_limits<float>::max();

std::uint32_t bits_of(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

// The code of the nearest value of a small format, ties to the even code; saturating.
std::uint32_t nearest_code(const ElementFormat& format, float value) {
    if (std::isnan(value)) return format.code_nan();
    // Beyond all codes one value is as good as another, and small enough to be told from them.
    const double wanted = std::fmin(std::fabs(static_cast<double>(value)), 1e6);
    const auto value_of = [&](std::uint32_t code) {
        const int field = static_cast<int>(code >> format.mantissa_bits);
        const int mantissa = static_cast<int>(code & format.code_mantissa_mask());
        const int whole = field == 0 ? mantissa : mantissa + (1 << format.mantissa_bits);
        return std::ldexp(whole,
                          (field == 0 ? 1 : field) - format.exponent_bias - format.mantissa_bits);
    };
    std::uint32_t best = 0;
    for (std::uint32_t code = 1; code <= format.code_max_finite(); ++code) {
        const double to_best = std::fabs(wanted - value_of(best));
        const double to_code = std::fabs(wanted - value_of(code));
        if (to_code < to_best || (to_code == to_best && code % 2 == 0)) best = code;
    }
    return std::signbit(value) ? best | format.code_sign_mask() : best;
}

float decoded(const ElementFormat& format, std::uint32_t code) {
    const exact::Rational value = exact::magnitude_of(format, code & format.code_magnitude_mask());
    const auto magnitude = static_cast<float>(numerator(value).convert_to<double>() /
                                              denominator(value).convert_to<double>());
    return (code & format.code_sign_mask()) != 0 ? -magnitude : magnitude;
}

struct Tile {
    std::vector<float> lanes;
    float amax;         // of the lanes
    float tensor_amax;  // at least as large
};

// Lanes of a random spread around a random size, seldom extreme.
Tile random_tile(std::mt19937& random) {
    const auto uniform = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    Tile tile{{}, 0, 0};
    const int exponent = uniform(0, 19) == 0 ? uniform(-140, 120) : uniform(-12, 12);
    const int spread = uniform(0, 6);
    for (int lane = 0; lane < 16; ++lane) {
        const float mantissa = static_cast<float>(uniform(-(1 << 24), 1 << 24));
        tile.lanes.push_back(std::ldexp(mantissa, exponent - 24 - uniform(0, spread)));
        tile.amax = std::fmax(tile.amax, std::fabs(tile.lanes.back()));
    }
    const float above = std::ldexp(static_cast<float>(uniform(1 << 23, 1 << 24)), -23);
    tile.tensor_amax = tile.amax * above * (uniform(0, 9) == 0 ? 300.0f : 1.0f);
    if (!std::isfinite(tile.tensor_amax)) tile.tensor_amax = largest;
    return tile;
}

Codes codes_of(const std::vector<float>& lanes) {
    Codes codes;
    for (const float lane : lanes) codes.push_back(bits_of(lane));
    return codes;
}

using Formula = Answered (*)(const Tile& tile);

Answered with_elements(Answered answered, const ElementFormat& element, const Tile& tile) {
    const float factor = std::bit_cast<float>(answered.factor);
    for (const float lane : tile.lanes)
        answered.elements.push_back(nearest_code(element, lane * factor));
    return answered;
}

// A NaN of 0 * Inf, which E2M1 has no code for.
Answered with_nan_as(std::uint32_t code, Answered answered, const Tile& tile) {
    const float factor = std::bit_cast<float>(answered.factor);
    for (std::size_t lane = 0; lane < tile.lanes.size(); ++lane)
        if (std::isnan(tile.lanes[lane] * factor)) answered.elements[lane] = code;
    return answered;
}

float encode_scale(const Tile& tile, float range) {
    const float scale = std::fmin(range / tile.tensor_amax, largest);
    return tile.tensor_amax == 0 || scale == 0 ? 1.0f : scale;
}

Answered te_nvfp4(const Tile& tile) {
    const float tensor = encode_scale(tile, 2688.0f);
    const float ratio = std::fmin(tile.amax * (tensor * (1.0f / 6.0f)), largest);
    const std::uint32_t scale = nearest_code(formats::e4m3, ratio);
    const float product = decoded(formats::e4m3, scale) * (1.0f / tensor);
    const float factor = std::fmin(1.0f / product, largest);
    return with_elements({bits_of(tensor), scale, bits_of(factor), {}}, formats::e2m1, tile);
}

Answered torchao(const Tile& tile, float tensor, float over_six) {
    const float ratio = std::fmin(std::fmax(over_six / tensor, 0x1p-6f), 448.0f);
    const std::uint32_t scale = nearest_code(formats::e4m3, ratio);
    const float factor = (1.0f / tensor) / decoded(formats::e4m3, scale);
    // torchao reads the quiet NaN as the number 1.5.
    return with_nan_as(
        3, with_elements({bits_of(tensor), scale, bits_of(factor), {}}, formats::e2m1, tile), tile);
}
Answered torchao_divided(const Tile& tile) {
    return torchao(tile, tile.tensor_amax / 2688.0f, tile.amax / 6.0f);
}
Answered torchao_reciprocal(const Tile& tile) {
    return torchao(tile, tile.tensor_amax * (1.0f / 2688.0f), tile.amax * (1.0f / 6.0f));
}
Answered torchao_single(const Tile& tile) {
    return torchao(tile, 1.0f, tile.amax / 6.0f);
}

Answered cublaslt(const Tile& tile) {
    const std::uint32_t scale = nearest_code(formats::e4m3, tile.amax / 6.0f);
    const float factor = 1.0f / decoded(formats::e4m3, scale);
    return with_nan_as(
        7, with_elements({0x3F800000, scale, bits_of(factor), {}}, formats::e2m1, tile), tile);
}

struct CandidateOf {
    Answered answered;
    float error;
};
CandidateOf candidate(const Tile& tile, float tensor, float wanted, CandidateError kind) {
    const std::uint32_t scale = nearest_code(formats::e4m3, std::fmin(wanted, 448.0f));
    const float value = decoded(formats::e4m3, scale);
    const float factor = std::fmin(1.0f / (value * (1.0f / tensor)), largest);
    CandidateOf result{
        with_elements({bits_of(tensor), scale, bits_of(factor), {}}, formats::e2m1, tile), 0};
    for (std::size_t lane = 0; lane < tile.lanes.size(); ++lane) {
        const float element = decoded(formats::e2m1, result.answered.elements[lane]);
        const float difference = element * value * tile.tensor_amax / 1536.0f - tile.lanes[lane];
        result.error +=
            kind == CandidateError::square ? difference * difference : std::fabs(difference);
    }
    return result;
}
Answered four_over_six(const Tile& tile, CandidateError kind) {
    const float tensor = encode_scale(tile, 1536.0f);
    const float base = tile.amax / 6.0f * tensor;
    const CandidateOf four = candidate(tile, tensor, base * 1.5f, kind);
    const CandidateOf six = candidate(tile, tensor, base, kind);
    return four.error < six.error ? four.answered : six.answered;
}
Answered four_over_six_absolute(const Tile& tile) {
    return four_over_six(tile, CandidateError::absolute);
}
Answered four_over_six_square(const Tile& tile) {
    return four_over_six(tile, CandidateError::square);
}

Answered te_block(const Tile& tile) {
    const float encode = tile.amax == 0 ? 1.0f : std::fmin(448.0f / tile.amax, largest);
    return with_elements({0x3F800000, bits_of(1.0f / encode), bits_of(encode), {}}, formats::e4m3,
                         tile);
}
Answered te_block_power(const Tile& tile) {
    const float whole = tile.amax == 0 ? 1.0f : std::fmin(448.0f / tile.amax, largest);
    const float encode = std::bit_cast<float>(bits_of(whole) & 0xFF800000);
    return with_elements({0x3F800000, bits_of(1.0f / encode), bits_of(encode), {}}, formats::e4m3,
                         tile);
}
// In binary64, then narrowed: the same bits, which is what lets one row stand for both kernels.
Answered torchao_block(const Tile& tile) {
    const double amax = std::fmax(static_cast<double>(tile.amax), 1e-12);
    const float encode = static_cast<float>(448.0 / amax);
    const float stored = static_cast<float>(1.0 / static_cast<double>(encode));
    return with_elements({0x3F800000, bits_of(stored), bits_of(encode), {}}, formats::e4m3, tile);
}
Answered deepgemm(const Tile& tile) {
    const float scale = std::fmax(tile.amax, 1e-4f) / 448.0f;
    return with_elements({0x3F800000, bits_of(scale), bits_of(1.0f / scale), {}}, formats::e4m3,
                         tile);
}
Answered deepgemm_power(const Tile& tile) {
    const float scale = std::fmax(tile.amax, 1e-4f) * (1.0f / 448.0f);
    const float power = std::bit_cast<float>((bits_of(scale) + 0x7FFFFF) & 0xFF800000);
    return with_elements({0x3F800000, bits_of(power), bits_of(1.0f / power), {}}, formats::e4m3,
                         tile);
}
Answered nexus(const Tile& tile) {
    const float scale = tile.amax / 448.0f;
    Answered answered{0x3F800000, bits_of(scale), bits_of(scale), {}};
    for (const float lane : tile.lanes)
        answered.elements.push_back(nearest_code(formats::e4m3, lane / scale));
    return answered;
}

Answered alto(const Tile& tile, const ElementFormat& scale_format, float least) {
    const float most = decoded(scale_format, scale_format.code_max_finite());
    const float tensor = std::fmax(tile.tensor_amax / (6.0f * most), 1e-30f);
    const float ratio = std::fmin(std::fmax(tile.amax / tensor / 6.0f, least), most);
    const std::uint32_t scale = nearest_code(scale_format, ratio);
    const float divisor = decoded(scale_format, scale) * tensor;
    Answered answered{bits_of(tensor), scale, bits_of(divisor), {}};
    for (const float lane : tile.lanes)
        answered.elements.push_back(nearest_code(formats::e2m1, lane / divisor));
    return answered;
}
Answered alto_nvfp4(const Tile& tile) {
    return alto(tile, formats::e4m3, 0x1p-6f);
}
Answered alto_amdfp4(const Tile& tile) {
    return alto(tile, formats::ue5m3, 0x1p-17f);
}

struct Judged {
    std::string_view recipe, format;
    Formula formula;
};
class AgainstFloat : public testing::TestWithParam<Judged> {};

TEST_P(AgainstFloat, RandomBlocks) {
    std::mt19937 random(20260822);
    for (int round = 0; round < 400; ++round) {
        const Tile tile = random_tile(random);
        if (tile.amax == 0) continue;
        const Asked asked{GetParam().recipe, GetParam().format, formats::f32, codes_of(tile.lanes),
                          bits_of(tile.tensor_amax)};
        ASSERT_EQ(answer(asked), GetParam().formula(tile))
            << "amax " << tile.amax << ", of the tensor " << tile.tensor_amax;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Recipes, AgainstFloat,
    testing::Values(Judged{"te-nvfp4", "nvfp4", te_nvfp4},
                    Judged{"te-nvfp4-4over6-mae", "nvfp4", four_over_six_absolute},
                    Judged{"te-nvfp4-4over6-mse", "nvfp4", four_over_six_square},
                    Judged{"torchao-nvfp4", "nvfp4", torchao_divided},
                    Judged{"torchao-nvfp4-gpu", "nvfp4", torchao_reciprocal},
                    Judged{"torchao-nvfp4-single", "nvfp4", torchao_single},
                    Judged{"cublaslt-nvfp4", "nvfp4", cublaslt},
                    Judged{"te-fp8-block", "fp8-e4m3-1x128", te_block},
                    Judged{"te-fp8-block-pow2", "fp8-e4m3-1x128", te_block_power},
                    Judged{"te-fp8-current", "fp8-e4m3-tensor", te_block},
                    Judged{"torchao-fp8-block", "fp8-e4m3-1x128", torchao_block},
                    Judged{"deepgemm-fp8", "fp8-e4m3-1x128", deepgemm},
                    Judged{"deepgemm-fp8-pow2-gpu", "fp8-e4m3-1x128", deepgemm_power},
                    Judged{"nexus", "fp8-e4m3-1x32", nexus},
                    Judged{"alto-nvfp4", "nvfp4", alto_nvfp4},
                    Judged{"alto-amdfp4", "fp4-ue5m3-1x16", alto_amdfp4}),
    [](const testing::TestParamInfo<Judged>& info) {
        std::string name(info.param.recipe);
        for (char& letter : name)
            if (letter == '-') letter = '_';
        return name;
    });

}  // namespace
}  // namespace mx
