// The file that remembers proofs: for one program alone, and whole or not at all.
#include "reference/proof/held_proofs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace mx::proof {
namespace {

const Digest first{std::string(64, 'a'), 7, "round e4m3"};
const Digest second{std::string(64, 'b'), 8, "decode e2m1"};

class HeldProofsTest : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path_); }

    const std::string path_ =
        (std::filesystem::temp_directory_path() / ("held-" + std::to_string(::getpid()))).string();
};

TEST_F(HeldProofsTest, WhatHeldIsThereForTheNextCallOfTheSameProgram) {
    auto held = HeldProofs::open(path_, "program 1");
    ASSERT_TRUE(held);
    EXPECT_EQ(held.value().find(first.name), nullptr);
    ASSERT_TRUE(held.value().add(first));
    ASSERT_TRUE(held.value().add(second));
    const auto again = HeldProofs::open(path_, "program 1");
    ASSERT_TRUE(again);
    EXPECT_EQ(*again.value().find(first.name), first);
    EXPECT_EQ(*again.value().find(second.name), second);
    EXPECT_EQ(read_digests(path_).value(), (std::vector{first, second}));
}

TEST_F(HeldProofsTest, AFileOfAnotherProgramIsRefused) {
    ASSERT_TRUE(HeldProofs::open(path_, "program 1").value().add(first));
    const auto other = HeldProofs::open(path_, "program 2");
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("another build"), std::string::npos);
    EXPECT_FALSE(HeldProofs::open(path_, "program"));  // the line begins alike
}

TEST_F(HeldProofsTest, AFileThatIsNoneIsRefused) {
    std::ofstream(path_) << "something else\n";
    EXPECT_FALSE(HeldProofs::open(path_, "program 1"));
    std::ofstream(path_) << "# state of mxcheck prove, program 1\nno digest\n";
    const auto bad = HeldProofs::open(path_, "program 1");
    ASSERT_FALSE(bad);
    EXPECT_NE(bad.error().message.find("line 2"), std::string::npos) << bad.error().message;
    EXPECT_FALSE(read_digests(path_));
}

TEST_F(HeldProofsTest, AnEmptyPathIsNeverWritten) {
    auto held = HeldProofs::open("", "program 1");
    ASSERT_TRUE(held && held.value().add(first));
    EXPECT_EQ(*held.value().find(first.name), first);
}

}  // namespace
}  // namespace mx::proof
