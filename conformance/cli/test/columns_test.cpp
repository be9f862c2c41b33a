// Text broken to a width: at blanks, long paths behind a slash or a colon, no other word.
#include "conformance/cli/columns.hpp"

#include <gtest/gtest.h>

namespace mx::cli {
namespace {

using Lines = std::vector<std::string>;

TEST(Columns, LinesAreBrokenAtBlanks) {
    EXPECT_EQ(lines_of("one two three", 7), (Lines{"one two", "three"}));
    EXPECT_EQ(lines_of("one two three", 6), (Lines{"one", "two", "three"}));
    EXPECT_EQ(lines_of("one two three", 13), (Lines{"one two three"}));
    EXPECT_EQ(lines_of("", 7), (Lines{""}));
}

TEST(Columns, ALongPathIsBrokenBehindItsMarks) {
    EXPECT_EQ(lines_of("see a/bcd/efg and so", 8), (Lines{"see", "a/bcd/", "efg and", "so"}));
    EXPECT_EQ(lines_of("owner/name@1:folder/file, x", 14),
              (Lines{"owner/name@1:", "folder/file, x"}));
}

TEST(Columns, AWordWithoutMarksStaysWhole) {
    EXPECT_EQ(lines_of("a nearest_toward_zero b", 8), (Lines{"a", "nearest_toward_zero", "b"}));
}

TEST(Columns, TheTextStandsInItsColumn) {
    EXPECT_EQ(beside("name", 6, "one two three four five", 28),
              "name  one two three four\n      five\n");
    EXPECT_EQ(beside("long name", 6, "one two three four five", 28),
              "long name one two three four\n      five\n");
    EXPECT_EQ(beside("long name", 6, "text", 80), "long name text\n");
}

}  // namespace
}  // namespace mx::cli
