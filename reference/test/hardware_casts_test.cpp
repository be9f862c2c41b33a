// The exact oracle against hardware and libraries: what an NVIDIA GPU answered to every code of
// f32, f16 and bf16, of FNUZ ml_dtypes to those of f16 and bf16, and RISC-V's simulator Spike to
// those of f32, bf16, E4M3, E5M2 and E2M1, was recorded as a digest of its runs, and the oracle's
// runs must have the same. So was what Bochs and QEMU, emulators of x86 and Arm processors, made of
// their conversions to FP8 and back.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "reference/exact/scale.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/spec/quantizers.hpp"

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

// As a row of the table converts to FP8.
std::uint32_t exact_cast_of(std::string_view dialect, const Recorded& row, std::uint32_t bits) {
    Quantizer rules = *find_quantizer(dialect);
    rules.element_rounding = rounding_named(row.rounding);
    rules.element_overflow = row.overflow == "saturate" ? Overflow::saturate : Overflow::overflow;
    const exact::Value value = exact::decode(*find_element_format(row.input), Code{bits});
    return exact::round_element(rules, *find_element_format(row.format), value).bits;
}

bool is_fp8(const std::string& format) {
    return format == "e4m3" || format == "e5m2";
}

// The way back rounds nothing, and what it writes for a NaN no row says: RISC-V and Arm the quiet
// one without payload, AVX10.2 all the bits that E4M3's NaN has.
std::uint32_t exact_cast_of_riscv(const Recorded& row, std::uint32_t bits) {
    if (is_fp8(row.format)) return exact_cast_of("riscv-fp8", row, bits);
    const std::uint32_t code = exact_cast(row, bits);
    return find_element_format(row.format)->is_nan(Code{code}) ? 0x7FC0 : code;
}

std::uint32_t exact_cast_of_arm(const Recorded& row, std::uint32_t bits) {
    if (is_fp8(row.format)) return exact_cast_of("arm-fp8", row, bits);
    const std::uint32_t code = exact_cast(row, bits);
    if (!find_element_format(row.format)->is_nan(Code{code})) return code;
    return row.format == "bf16" ? 0x7FC0 : 0x7E00;
}

std::uint32_t exact_cast_of_avx10(const Recorded& row, std::uint32_t bits) {
    if (is_fp8(row.format)) return exact_cast_of("avx10-fp8", row, bits);
    const std::uint32_t code = exact_cast(row, bits);
    if (!find_element_format(row.format)->is_nan(Code{code})) return code;
    return (bits & 0x80) << 8 | 0x7F80;
}

template <typename Cast>
std::vector<exact::Run> runs_of(const Recorded& row, const Cast& cast) {
    const ElementFormat& input = *find_element_format(row.input);
    const auto ask = [&](std::uint32_t bits) { return cast(row, bits); };
    std::vector<exact::Run> runs;
    for (const std::uint32_t sign : {std::uint32_t{0}, input.code_sign_mask()}) {
        proof::append_runs(runs, exact::runs_of(sign, sign | input.code_infinity(), ask));
        const std::uint32_t first = sign | (input.code_infinity() + 1);
        const std::uint32_t last = sign | input.code_magnitude_mask();
        // Payloads that are kept do not rise with the codes: those of 16 bits are all asked.
        proof::append_runs(runs, input.code_bits() == 32
                                     ? exact::runs_of(first, last, ask)
                                     : exact::runs_asked_everywhere(first, last, ask));
    }
    return runs;
}

template <typename Cast>
void expect_the_same(const std::vector<Recorded>& rows, const Cast& cast) {
    for (const Recorded& row : rows) {
        const std::vector<exact::Run> runs = runs_of(row, cast);
        const std::string name =
            row.format + " " + row.input + " " + row.rounding + " " + row.overflow;
        EXPECT_EQ(runs.size(), row.runs) << name;
        EXPECT_EQ(proof::digest_of(runs), row.digest) << name;
    }
}

TEST(HardwareCasts, TheExactOracleGivesWhatTheHardwareGave) {
    const std::vector<Recorded> rows = recorded_casts(MX_RECORDED_CASTS);
    EXPECT_EQ(rows.size(), 38u);
    expect_the_same(rows, exact_cast);
}

TEST(HardwareCasts, TheExactOracleGivesWhatMlDtypesGave) {
    const std::vector<Recorded> rows = recorded_casts(MX_RECORDED_ML_DTYPES);
    EXPECT_EQ(rows.size(), 4u);
    expect_the_same(rows, exact_cast);
}

// Both conversions to FP8 in five roundings, saturating and not; FP8 to bfloat16; E2M1 to E4M3.
TEST(HardwareCasts, TheExactOracleGivesWhatSpikeGave) {
    const std::vector<Recorded> rows = recorded_casts(MX_RECORDED_SPIKE);
    EXPECT_EQ(rows.size(), 43u);
    expect_the_same(rows, exact_cast_of_riscv);
}

// Both conversions of binary16 to FP8, saturating and not; E4M3 to binary16.
TEST(HardwareCasts, TheExactOracleGivesWhatBochsGave) {
    const std::vector<Recorded> rows = recorded_casts(MX_RECORDED_BOCHS);
    EXPECT_EQ(rows.size(), 5u);
    expect_the_same(rows, exact_cast_of_avx10);
}

// Both conversions of binary16 and bfloat16 to FP8, saturating and not, and back.
TEST(HardwareCasts, TheExactOracleGivesWhatQemuGave) {
    const std::vector<Recorded> rows = recorded_casts(MX_RECORDED_QEMU_ARM);
    EXPECT_EQ(rows.size(), 12u);
    expect_the_same(rows, exact_cast_of_arm);
}

}  // namespace
}  // namespace mx
