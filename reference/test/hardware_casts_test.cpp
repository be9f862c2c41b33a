// The exact oracle against hardware and a library: what an NVIDIA GPU answered to every code of
// f32, f16 and bf16, and of FNUZ ml_dtypes to those of f16 and bf16, was recorded as a digest of
// its runs, and the oracle's runs must have the same.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "reference/exact/scale.hpp"
#include "reference/proof/sweep.hpp"

namespace mx {
namespace {

struct Recorded {
    std::string format, input, rounding, overflow;
    std::size_t runs = 0;
    std::string digest;
};

// "e4m3 f32 nearest_even saturate: 256 87aa..."
std::vector<Recorded> recorded_casts(const char* path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::vector<Recorded> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        Recorded row;
        words >> row.format >> row.input >> row.rounding >> row.overflow >> row.runs >> row.digest;
        EXPECT_TRUE(words) << line;
        EXPECT_TRUE(row.overflow.ends_with(':')) << line;
        row.overflow.pop_back();
        rows.push_back(row);
    }
    return rows;
}

Rounding rounding_named(const std::string& name) {
    for (const auto& [known, rounding] : roundings)
        if (known == name) return rounding;
    ADD_FAILURE() << "no rounding " << name;
    return Rounding::nearest_even;
}

// cuda_fp8.h: what is not above 2^-127 is byte 0, the sign is dropped, satfinite keeps Inf finite.
ScaleCast cast_of(const Recorded& row) {
    const bool saturates = row.overflow == "saturate";
    const std::uint8_t beyond = saturates ? 0xFE : 0xFF;
    return {.rounding = row.rounding == "toward_zero" ? ScaleRounding::toward_zero
                                                      : ScaleRounding::toward_positive,
            .overflow = beyond,
            .infinity = beyond};
}

std::uint32_t exact_cast(const Recorded& row, std::uint32_t bits) {
    const exact::Value value = exact::decode(*find_element_format(row.input), Code{bits});
    if (row.format == "e8m0") return exact::cast_to_scale(cast_of(row), value).bits;
    const Overflow overflow = row.overflow == "saturate" ? Overflow::saturate : Overflow::overflow;
    return exact::round(*find_element_format(row.format), rounding_named(row.rounding), overflow,
                        value)
        .bits;
}

std::vector<exact::Run> runs_of(const Recorded& row) {
    const ElementFormat& input = *find_element_format(row.input);
    const auto ask = [&row](std::uint32_t bits) { return exact_cast(row, bits); };
    std::vector<exact::Run> runs;
    for (const std::uint32_t sign : {std::uint32_t{0}, input.code_sign_mask()}) {
        proof::append_runs(runs, exact::runs_of(sign, sign | input.code_infinity(), ask));
        proof::append_runs(runs, exact::runs_of(sign | (input.code_infinity() + 1),
                                                sign | input.code_magnitude_mask(), ask));
    }
    return runs;
}

void expect_the_same(const std::vector<Recorded>& rows) {
    for (const Recorded& row : rows) {
        const std::vector<exact::Run> runs = runs_of(row);
        const std::string name =
            row.format + " " + row.input + " " + row.rounding + " " + row.overflow;
        EXPECT_EQ(runs.size(), row.runs) << name;
        EXPECT_EQ(proof::digest_of(runs), row.digest) << name;
    }
}

TEST(HardwareCasts, TheExactOracleGivesWhatTheHardwareGave) {
    const std::vector<Recorded> rows = recorded_casts(MX_RECORDED_CASTS);
    EXPECT_EQ(rows.size(), 38u);
    expect_the_same(rows);
}

TEST(HardwareCasts, TheExactOracleGivesWhatMlDtypesGave) {
    const std::vector<Recorded> rows = recorded_casts(MX_RECORDED_ML_DTYPES);
    EXPECT_EQ(rows.size(), 4u);
    expect_the_same(rows);
}

}  // namespace
}  // namespace mx
