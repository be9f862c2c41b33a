// The fast oracle against hardware: what an H200 answered to tanh.approx.f32, for every input, was
// recorded as a digest for each 2^23 of them. Each of these is one sign and exponent.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>

#include "reference/fast/tanh_approx.hpp"
#include "reference/proof/sha256.hpp"

namespace mx {
namespace {

constexpr std::uint32_t inputs_per_line = 1u << 23;

struct Recorded {
    std::uint32_t first;
    std::string digest;
};

std::vector<Recorded> recorded_digests() {
    std::ifstream file(MX_RECORDED_TANH);
    EXPECT_TRUE(file) << MX_RECORDED_TANH;
    std::vector<Recorded> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        rows.push_back({static_cast<std::uint32_t>(std::stoul(line.substr(0, 8), nullptr, 16)),
                        line.substr(9)});
        EXPECT_EQ(rows.back().digest.size(), 64u) << line;
    }
    return rows;
}

std::uint32_t by_fast(std::uint32_t bits) {
    return fast::tanh_approx(Code{bits}).bits;
}

std::string fast_digest(std::uint32_t first) {
    std::string bytes;
    bytes.reserve(std::size_t{4} * inputs_per_line);
    for (std::uint32_t i = 0; i < inputs_per_line; ++i) {
        const std::uint32_t result = by_fast(first | i);
        for (int shift = 0; shift < 32; shift += 8)
            bytes.push_back(static_cast<char>(result >> shift & 0xFF));
    }
    return sha256(bytes);
}

// All with pieces, and around them; of those below 0, as many as show that only the sign differs.
bool is_asked(std::uint32_t first) {
    const std::uint32_t exponent = first >> 23 & 0xFF;
    if (first >> 31 != 0) return exponent == 127 || exponent == 255;
    return exponent == 0 || (exponent >= 118 && exponent <= 130) || exponent == 255;
}

TEST(HardwareTanh, TheFastOracleGivesWhatTheHardwareGave) {
    const std::vector<Recorded> rows = recorded_digests();
    ASSERT_EQ(rows.size(), 512u);
    int asked = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].first, static_cast<std::uint32_t>(i) << 23);
        if (!is_asked(rows[i].first)) continue;
        EXPECT_EQ(fast_digest(rows[i].first), rows[i].digest) << std::hex << rows[i].first;
        ++asked;
    }
    EXPECT_EQ(asked, 17);
}

// Elsewhere nothing is computed: a number is its own result, or the result is 1.
TEST(HardwareTanh, NothingElseIsComputed) {
    for (std::uint32_t leading = 0; leading < 512; ++leading) {
        const std::uint32_t exponent = leading & 0xFF, sign = leading >> 8 << 31;
        const bool has_piece = exponent >= 119 && exponent <= 129;
        if (has_piece || exponent == 255) continue;
        for (std::uint32_t mantissa = 0; mantissa < inputs_per_line; mantissa += 8191) {
            const std::uint32_t bits = leading << 23 | mantissa;
            EXPECT_EQ(by_fast(bits), exponent < 119 ? bits : sign | 0x3F800000);
        }
    }
    EXPECT_EQ(by_fast(0x7F800000), 0x3F800000u);
    EXPECT_EQ(by_fast(0xFFC00000), 0x7FFFFFFFu);
}

}  // namespace
}  // namespace mx
