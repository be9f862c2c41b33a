// The unmutated base behind its ABI, and what it answers to a probe; for the tests that hold it to
// published numbers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "conformance/mutants/mutant_probes.hpp"

namespace mx::mutants {

// The library of this build with no bug switched on.
Planted clean_base();

class Base : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_NE(base_.api, nullptr); }

    void expect_block(Question question, const Codes& values, std::uint32_t scale,
                      const Codes& codes) const {
        const Outputs outputs = outputs_of(base_, quantize_row("block", question, values));
        SCOPED_TRACE(::testing::Message() << question.dialect << " first input " << values[0]);
        EXPECT_EQ(outputs.status, MX_OK);
        EXPECT_EQ(outputs.second, Codes{scale});
        EXPECT_EQ(outputs.first, codes);
    }
    Codes scales_of(Question question, const Codes& amax) const {
        return outputs_of(base_, encode_scales("scales", question, amax)).first;
    }
    Codes converted(Question question, const char* overflow, const Codes& values) const {
        return outputs_of(base_, convert_row("convert", question, overflow, values)).first;
    }

    Codes rounded_codes(const char* rounding, Question question, const Codes& values,
                        const Codes& words = {}) const {
        const Probe probe = convert_row("rounded", question, "overflow", values);
        return outputs_of(base_, rounded(probe, rounding, words)).first;
    }

    const Planted base_ = clean_base();
};

}  // namespace mx::mutants
