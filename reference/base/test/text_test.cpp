// What a plug-in wrote, made printable; and slips of the finger.
#include "reference/base/text.hpp"

#include <gtest/gtest.h>

namespace mx {
namespace {

TEST(Text, PrintableIsOneLineOfValidUtf8) {
    EXPECT_EQ(printable("plain"), "plain");
    EXPECT_EQ(printable(" two\nlines\r\n"), "two lines");
    EXPECT_EQ(printable("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
              "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
    EXPECT_EQ(printable("\xFF|\xC3|\xC0\xAF|\xED\xA0\x80|\xF4\x90\x80\x80|\xE2\x82"),
              "?|?|??|???|????|??");
    EXPECT_EQ(printable("\033[31m\x7F"), "[31m");
    EXPECT_EQ(printable("\n\n"), "");
}

TEST(Text, NearestNameOnlyWhenNear) {
    const std::vector<std::string> names = {"cpu", "nvhost", "cuda", "cublaslt"};
    EXPECT_EQ(nearest_name("cpuu", names), "cpu");
    EXPECT_EQ(nearest_name("nvhots", names), "nvhost");
    EXPECT_EQ(nearest_name("cublas", names), "cublaslt");
    EXPECT_EQ(nearest_name("tpux", names), "cpu");
    EXPECT_EQ(nearest_name("simulator", names), "");
    EXPECT_EQ(nearest_name("xy", names), "");
    EXPECT_EQ(nearest_name("", names), "");
}

TEST(Text, Durations) {
    EXPECT_EQ(to_text(std::chrono::milliseconds(200)), "200 ms");
    EXPECT_EQ(to_text(std::chrono::seconds(60)), "60 s");
    EXPECT_EQ(to_text(std::chrono::milliseconds(1500)), "1500 ms");
}

}  // namespace
}  // namespace mx
