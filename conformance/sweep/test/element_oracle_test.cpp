// Tests of the oracle's side of the element sweeps, on the host: every sweep has its kernel, and
// values that share a target are rounded as they are one by one.
#include <gtest/gtest.h>

#include <utility>

#include "conformance/sweep/device_elements.hpp"
#include "conformance/sweep/element_kernels.hpp"
#include "conformance/sweep/element_oracle.hpp"
#include "device/cuda/rules.hpp"

namespace mx::sweep {
namespace {

TEST(ElementKernels, ThereIsOneForEverySweep) {
    for (const DeviceElements& sweep : device_elements()) {
        const ElementRow row = kernel_row(sweep.dialect, sweep.format);
        ASSERT_LT(row.format, mx_block_formats.size()) << sweep.name;
        EXPECT_TRUE(has_kernel(row)) << sweep.name;
        EXPECT_EQ(mx_block_formats[row.format].name, sweep.format.name);
        EXPECT_EQ(proof::element_rules(e8m0_quantizers[row.dialect]),
                  proof::element_rules(sweep.dialect))
            << sweep.name;
        EXPECT_EQ(device_element(sweep.format.element()),
                  *cuda::find_block_format(sweep.format.name))
            << sweep.name;
    }
    const Quantizer& flushing = *find_quantizer("te-specialised");  // loses the sign of a zero
    EXPECT_EQ(kernel_row(flushing, mx_block_formats[0]).format, npos);
}

struct Tally {
    std::uint64_t shared = 0;
    std::uint64_t alone = 0;
    std::uint64_t wrong = 0;
};

// As a thread of the kernel does it.
template <std::size_t Row, std::size_t Format>
void compare_group(std::uint32_t first, std::uint32_t scale, Tally& tally) {
    using Oracle = ElementOracle<Row, Format>;
    const fast::Unpacked value = Oracle::value(first);
    const fast::Unpacked scaled = Oracle::scaled(value, scale);
    if (!are_alike(value, Oracle::value(first + group - 1)) || !is_rounded(scaled)) {
        ++tally.alone;
        return;
    }
    ++tally.shared;
    const fast::Target target = Oracle::target(scaled);
    const auto significand = static_cast<std::uint32_t>(scaled.significand);
    for (std::uint32_t i = 0; i < group; i += 2)
        if (Oracle::elements(target, significand + i) != Oracle::elements({first + i, scale}))
            ++tally.wrong;
}

template <std::size_t Row, std::size_t Format>
void compare_groups(Tally& tally) {
    if constexpr (has_kernel({Row, Format})) {
        // Of every exponent the two ends, the middle, where ties lie, and one place between.
        for (std::uint32_t exponent = 0; exponent < 512; ++exponent)
            for (const std::uint32_t mantissa : {0x000000u, 0x000010u, 0x0FFFF0u, 0x100000u,
                                                 0x3FFFF0u, 0x400000u, 0x5A5A50u, 0x7FFFF0u})
                for (std::uint32_t scale = 0; scale < 256; ++scale)
                    compare_group<Row, Format>(exponent << 23 | mantissa, scale, tally);
    }
}

template <std::size_t Format, std::size_t... Row>
void compare_rows(Tally& tally, std::index_sequence<Row...>) {
    (compare_groups<Row, Format>(tally), ...);
}

// Two folds: Clang takes no more than 256 terms in one.
template <std::size_t... Format>
void compare_all(Tally& tally, std::index_sequence<Format...>) {
    (compare_rows<Format>(tally, std::make_index_sequence<e8m0_quantizers.size()>{}), ...);
}

TEST(ElementOracle, RoundsValuesThatShareATargetAsItDoesOneByOne) {
    Tally tally;
    compare_all(tally, std::make_index_sequence<mx_block_formats.size()>{});
    EXPECT_EQ(tally.wrong, 0u);
    EXPECT_GT(tally.shared, 12'000'000u);
    EXPECT_GT(tally.alone, 0u);
}

TEST(ElementOracle, SharesNothingWhereExponentOrKindChange) {
    using Oracle = ElementOracle<0, 0>;
    const auto alike = [](std::uint32_t first, std::uint32_t last) {
        return are_alike(Oracle::value(first), Oracle::value(last));
    };
    EXPECT_TRUE(alike(0x3F800000, 0x3F80000F));
    EXPECT_TRUE(alike(0xBF800000, 0xBF80000F));
    EXPECT_TRUE(alike(0x00000010, 0x0000001F));   // subnormal, of one width
    EXPECT_FALSE(alike(0x00000000, 0x0000000F));  // zero
    EXPECT_FALSE(alike(0x00000001, 0x0000000F));  // of several widths
    EXPECT_FALSE(alike(0x3F7FFFF8, 0x3F800007));
    EXPECT_FALSE(alike(0x007FFFF8, 0x00800007));
    EXPECT_FALSE(alike(0x7F7FFFF8, 0x7F800000));
    EXPECT_FALSE(alike(0x7F800000, 0x7F80000F));
    EXPECT_FALSE(alike(0x7FC00000, 0x7FC0000F));
}

}  // namespace
}  // namespace mx::sweep
