// Tests of a run's waivers: what is said of those that do not hold, and when that is an error.
#include "conformance/session/waiving.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "reference/base/files.hpp"

namespace mx::session {
namespace {

class Waiving : public testing::Test {
protected:
    ~Waiving() override { std::filesystem::remove(path_); }

    void write(const std::string& device, const std::string& pattern, const std::string& expires) {
        text_ += "[[waiver]]\ndevice = \"" + device + "\"\ncase = \"" + pattern +
                 "\"\nmismatch = \"tie\"\nreason = \"planted\"\nlink = \"https://example.org/1\"\n"
                 "owner = \"Ada\"\nexpires = " +
                 expires + "\n";
        ASSERT_TRUE(write_atomically(path_, {std::as_bytes(std::span(text_))}));
    }
    // The error, or "".
    std::string refusal(bool strict) {
        said_.clear();
        const auto waivers =
            waivers_of({path_, strict}, "cpu", {"quantize format=mxfp8-e4m3 seed=1"},
                       [this](const std::string& sentence) { said_ += sentence + "\n"; });
        return waivers ? "" : waivers.error().message;
    }

    const std::string path_ = (std::filesystem::path(testing::TempDir()) /
                               ("waiving_test_" + std::to_string(::getpid()) + ".toml"))
                                  .string();
    std::string text_, said_;
};

TEST_F(Waiving, OneThatHoldsIsNotSpokenOf) {
    write("cpu", "quantize format=mxfp8-*", "2099-12-31");
    EXPECT_EQ(refusal(true), "");
    EXPECT_EQ(said_, "");
}

TEST_F(Waiving, OneThatDoesNotHoldIsAWarningOrAnError) {
    write("cpu", "quantize format=mxfp4-*", "2099-12-31");
    EXPECT_EQ(refusal(false), "");
    const std::string unmatched =
        path_ + ":1: the waiver fits no case of this run: quantize format=mxfp4-*";
    EXPECT_EQ(said_, "warning: " + unmatched + "\n");
    EXPECT_EQ(refusal(true), unmatched);

    text_.clear();
    write("cpu", "quantize format=mxfp8-*", "2026-01-31");
    const std::string expired = path_ + ":1: the waiver expired after 2026-01-31; owner Ada";
    EXPECT_EQ(refusal(false), "");
    EXPECT_EQ(said_, "warning: " + expired + "\n");
    EXPECT_EQ(refusal(true), expired);
}

TEST_F(Waiving, OneForAnotherDeviceIsNamedEitherWay) {
    write("cuda", "quantize format=mxfp8-*", "2099-12-31");
    for (const bool strict : {false, true}) {
        EXPECT_EQ(refusal(strict), "");
        EXPECT_EQ(said_, path_ + ":1: a waiver for another device, 'cuda'\n");
    }
}

TEST_F(Waiving, WithoutAFileThereAreNone) {
    const Say nobody = [](const std::string&) { ADD_FAILURE(); };
    EXPECT_TRUE(waivers_of({}, "cpu", {}, nobody).value().empty());
    EXPECT_EQ(waivers_of({"", true}, "cpu", {}, nobody).error().message,
              "--strict is about waivers; --waivers is missing");
    EXPECT_EQ(waivers_of({"none.toml"}, "cpu", {}, nobody).error().message,
              "waivers: none.toml cannot be read");
}

TEST(Unneeded, IsAnErrorUnderStrictWhereAllElseIsWell) {
    results::Run run;
    results::Waiver waiver;
    waiver.state = "in force";
    waiver.case_pattern = "quantize";
    run.header.waivers = {waiver};
    std::string said;
    const Say say = [&said](const std::string& sentence) { said += sentence + "\n"; };
    EXPECT_EQ(judge_unneeded(run, false, Outcome::conformant, say), Outcome::conformant);
    EXPECT_TRUE(said.starts_with("warning: waiver 1 was not needed: quantize")) << said;
    EXPECT_EQ(judge_unneeded(run, true, Outcome::conformant, say), Outcome::bad_input);
    EXPECT_EQ(judge_unneeded(run, true, Outcome::mismatch, say), Outcome::mismatch);
    run.header.waivers.clear();
    EXPECT_EQ(judge_unneeded(run, true, Outcome::conformant, say), Outcome::conformant);
}

}  // namespace
}  // namespace mx::session
