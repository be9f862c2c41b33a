// A file is read whole, and written whole or not at all.
#include "reference/base/files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace mx {
namespace {

class Files : public testing::Test {
protected:
    Files() { std::filesystem::create_directories(folder_); }
    ~Files() override { std::filesystem::remove_all(folder_); }

    std::string at(const char* name) const { return (folder_ / name).string(); }
    static Status write(const std::string& path, std::string_view text) {
        return write_atomically(path, {std::as_bytes(std::span(text))});
    }

    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / ("files_test_" + std::to_string(::getpid()));
};

TEST_F(Files, WhatIsWrittenIsRead) {
    for (const std::string& text : {std::string("one\r\ntwo"), std::string("\0x\n", 3), {}}) {
        ASSERT_TRUE(write(at("a"), text));
        EXPECT_EQ(text_of_file(at("a")).value(), text);
    }
}

TEST_F(Files, WhatCannotBeReadIsSaid) {
    EXPECT_EQ(text_of_file(at("none")).error().message, at("none") + " cannot be read");
    EXPECT_EQ(text_of_file(folder_.string()).error().message,
              folder_.string() + " cannot be read: a directory");
}

TEST_F(Files, AFailureLeavesTheFileAndNoOther) {
    ASSERT_TRUE(write(at("a"), "before"));
    std::filesystem::create_directory(at("folder"));
    EXPECT_FALSE(write(at("folder"), "after"));
    EXPECT_FALSE(write(at("no/folder"), "after"));
    EXPECT_EQ(text_of_file(at("a")).value(), "before");
    const std::filesystem::directory_iterator entries(folder_);
    EXPECT_EQ(std::distance(begin(entries), end(entries)), 2);
}

TEST_F(Files, ALinkIsFollowed) {
    ASSERT_TRUE(write(at("a"), "before"));
    std::filesystem::create_symlink(at("a"), at("link"));
    ASSERT_TRUE(write(at("link"), "after"));
    EXPECT_TRUE(std::filesystem::is_symlink(at("link")));
    EXPECT_EQ(text_of_file(at("a")).value(), "after");
}

}  // namespace
}  // namespace mx
