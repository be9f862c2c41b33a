// Fields as data: named once, with a name for every value of every row, and copied alone.
#include <gtest/gtest.h>

#include <set>

#include "conformance/emulate/dialect_fields.hpp"
#include "reference/spec/dialects.hpp"

namespace mx::emulate {
namespace {

TEST(DialectFields, NamesAreDistinctAndValuesNamed) {
    std::set<std::string_view> names;
    for (const DialectField& field : dialect_fields()) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        for (const Dialect& dialect : dialects) EXPECT_NE(field.value_of(dialect), "");
    }
    EXPECT_EQ(names.size(), 11u);
}

TEST(DialectFields, ValuesAsInTheTable) {
    const auto value = [](std::string_view dialect, std::string_view name) {
        for (const DialectField& field : dialect_fields())
            if (field.name == name) return field.value_of(*find_dialect(dialect));
        return std::string_view("no such field");
    };
    EXPECT_EQ(value("ocp", "scale_rule"), "floor_amax");
    EXPECT_EQ(value("nv", "scale_rule"), "round_up_ratio");
    EXPECT_EQ(value("torchao-ceil", "scale_rule"), "ceil_amax");
    EXPECT_EQ(value("torchao-even", "scale_rule"), "even_amax");
    EXPECT_EQ(value("nv", "nan_in_block"), "own_lane_only");
    EXPECT_EQ(value("ocp", "nan_in_block"), "poisons_scale");
    EXPECT_EQ(value("nv", "scale_overflow"), "saturate");
    EXPECT_EQ(value("ocp", "scale_overflow"), "nan");
}

TEST(DialectFields, CopyMovesItsOwnFieldAndNoOther) {
    Dialect opposite = *find_dialect("nv");
    opposite.element_rounding = Rounding::toward_zero;
    opposite.element_overflow = Overflow::overflow;
    opposite.nan_code = NanCode::sign_kept;
    opposite.sign_of_zero = SignOfZero::dropped;
    for (const DialectField& moved : dialect_fields()) {
        Dialect mixed = *find_dialect("ocp");
        moved.copy(mixed, opposite);
        for (const DialectField& field : dialect_fields())
            EXPECT_EQ(field.value_of(mixed), field.name == moved.name
                                                 ? field.value_of(opposite)
                                                 : field.value_of(*find_dialect("ocp")))
                << moved.name << " " << field.name;
    }
}

}  // namespace
}  // namespace mx::emulate
