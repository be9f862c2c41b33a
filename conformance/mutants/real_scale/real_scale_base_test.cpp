// The base that every planted bug of real scales is cut from, held to numbers worked out by hand.
// Every bit of it is held to the suites by the self-test.
#include <gtest/gtest.h>

#include "conformance/mutants/real_scale/real_scale_probes.hpp"

namespace mx::mutants::real_scale {
namespace {

using Bytes = std::vector<unsigned char>;

class RealScaleBase : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_NE(base_.api, nullptr); }
    Bytes bytes_of(const Probe& probe) const {
        const Answer answer = answer_of(base_, probe);
        EXPECT_EQ(answer.status, MX_OK);
        return answer.bytes;
    }

    const Planted base_ = planted_bug(MX_MUTANT_DIRECTORY "/real_scale_mutants.so", "none");
};

// With an amax of 2688 for the tensor S is 1, and the scale of a block with an amax of 6 too.
TEST_F(RealScaleBase, Nvfp4) {
    const Probe probe{.name = "",
                      .columns = 5,
                      .values = bits_of({6, 0.25f, 0.75f, -0.0f, -5.5f}),
                      .number = bits_of({2688})};
    EXPECT_EQ(bytes_of(probe), (Bytes{7, 0, 2, 8, 15, 0x38, 0, 0, 0x28, 0x45}));
}

// The digits of 1.125 are 64 of 256: 191 does not carry, 192 does.
TEST_F(RealScaleBase, Stochastic) {
    const Probe probe{.name = "",
                      .dialect = "te-nvfp4-sr",
                      .columns = 3,
                      .values = bits_of({6, 1.125f, 1.125f}),
                      .number = bits_of({2688}),
                      .random = {0, 0xFFFFFFBF, 192}};
    EXPECT_EQ(bytes_of(probe), (Bytes{7, 2, 3, 0x38, 0, 0, 0x28, 0x45}));
}

// Sixteen ones become -1 0 1 0, 1 0 -1 0, 1 2 1 0, 1 0 1 -2: the first has 6 positive signs and 10
// negative ones, and a quarter of their sum is -1. The scale next to 2 / 6 is 11 / 32.
TEST_F(RealScaleBase, Rotation) {
    const Probe probe{.name = "",
                      .dialect = "te-nvfp4-rht",
                      .type = "bf16",
                      .values = Codes(16, 0x3F80),
                      .number = bits_of({2688})};
    EXPECT_EQ(bytes_of(probe),
              (Bytes{13, 0, 5, 0, 5, 0, 13, 0, 5, 7, 5, 0, 5, 0, 5, 15, 0x2B, 0, 0, 0x28, 0x45}));
}

TEST_F(RealScaleBase, Fp8) {
    const Probe probe{.name = "",
                      .format = "fp8-e4m3-tensor",
                      .dialect = "te-fp8-delayed",
                      .columns = 3,
                      .values = bits_of({1, -0.5f, 1000}),
                      .number = bits_of({2}),
                      .axis = "tensor"};
    EXPECT_EQ(bytes_of(probe), (Bytes{0x40, 0xB8, 0x7E, 0, 0, 0, 0x3F, 0, 0, 0, 0x40}));
}

TEST_F(RealScaleBase, Dequantize) {
    Probe probe{.name = "", .columns = 2, .values = {2, 15}, .scales = {0x38}};
    probe.number = bits_of({2688});
    EXPECT_EQ(bytes_of(probe), (Bytes{0, 0, 0x80, 0x3F, 0, 0, 0xC0, 0xC0}));
}

TEST_F(RealScaleBase, RefusesWhatItDoesNotKnow) {
    Probe probe{.name = "", .format = "fp8-e4m3-1x128", .values = Codes(16, 0)};
    EXPECT_EQ(answer_of(base_, probe).status, MX_NOT_SUPPORTED);
    probe.dialect = "nexus";
    EXPECT_EQ(answer_of(base_, probe).status, MX_NOT_SUPPORTED);
    probe = {.name = "", .dialect = "te-nvfp4-rht", .columns = 8, .values = Codes(8, 0)};
    EXPECT_EQ(answer_of(base_, probe).status, MX_NOT_SUPPORTED);
}

}  // namespace
}  // namespace mx::mutants::real_scale
