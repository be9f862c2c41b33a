// Fields as data: named once, with a name for every value of every row, and copied alone.
#include <gtest/gtest.h>

#include <set>

#include "conformance/emulate/dialect_fields.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::emulate {
namespace {

TEST(DialectFields, NamesAreDistinctAndValuesNamed) {
    std::set<std::string_view> names;
    for (const DialectField& field : dialect_fields()) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        for (const Quantizer& dialect : e8m0_quantizers) EXPECT_NE(field.value_of(dialect), "");
    }
    EXPECT_EQ(names.size(), 24u);
}

TEST(DialectFields, ValuesAsInTheTable) {
    const auto value = [](std::string_view dialect, std::string_view name) {
        return value_in(name, *find_quantizer(dialect));
    };
    EXPECT_EQ(value("ocp", "scale_ratio"), "over_emax");
    EXPECT_EQ(value("nv", "scale_ratio"), "times_reciprocal");
    EXPECT_EQ(value("torchao-ceil", "scale_rounding"), "toward_positive");
    EXPECT_EQ(value("torchao-even", "amax_rounding"), "nearest_away");
    EXPECT_EQ(value("nv", "nan_in_block"), "own_lane_only");
    EXPECT_EQ(value("nv", "scale_infinity"), "0xfe");
    EXPECT_EQ(value("ocp", "scale_infinity"), "0xff");
    EXPECT_EQ(value("deepgemm", "amax_min"), "0x38d1b717");
    EXPECT_EQ(value("ocp", "amax_min"), "none");
    EXPECT_EQ(value("ml_dtypes", "scale_negative"), "nan_byte");
    EXPECT_EQ(value("deepgemm-fp4", "element_rounding"), "nearest_toward_zero");
    EXPECT_EQ(value("flashinfer", "subnormals"), "inputs_flushed");
    EXPECT_EQ(named_value("scale_zero", *find_quantizer("deepgemm")), "scale_zero = 0x01");
}

// Every byte and enumerator has a name, whatever row uses it or none.
TEST(DialectFields, CopyTakesOverEveryDifference) {
    for (const Quantizer& from : e8m0_quantizers) {
        Quantizer to = *find_quantizer("ocp");
        for (const DialectField& field : dialect_fields()) field.copy(to, from);
        for (const DialectField& field : dialect_fields())
            EXPECT_EQ(field.value_of(to), field.value_of(from)) << from.name << " " << field.name;
        EXPECT_EQ(to.name, "ocp");
    }
}

TEST(DialectFields, CopyMovesItsOwnFieldAndNoOther) {
    Quantizer opposite = *find_quantizer("nv");
    opposite.element_rounding = Rounding::toward_zero;
    opposite.element_overflow = Overflow::overflow;
    opposite.nan_code = NanCode::sign_kept;
    opposite.sign_of_zero = SignOfZero::dropped;
    opposite.scale_cast.byte_min = 0x01;
    opposite.scale_cast.zero = 0x01;
    opposite.inverse = Inverse::one_for_byte_zero;
    opposite.amax_min = 1;
    for (const DialectField& moved : dialect_fields()) {
        Quantizer mixed = *find_quantizer("ocp");
        moved.copy(mixed, opposite);
        for (const DialectField& field : dialect_fields())
            EXPECT_EQ(field.value_of(mixed), field.name == moved.name
                                                 ? field.value_of(opposite)
                                                 : field.value_of(*find_quantizer("ocp")))
                << moved.name << " " << field.name;
    }
}

}  // namespace
}  // namespace mx::emulate
