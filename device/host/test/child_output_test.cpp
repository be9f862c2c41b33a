// What a child prints reaches the terminal, and no control character with it.
#include "device/host/child_output.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "device/host/child_process.hpp"

namespace mx {
namespace {

std::string shown_at_once(std::string_view text) {
    std::string held;
    return shown(text, held) + held;
}

// An emulator says itself, where its program would, what signal ended it.
std::string without_words_of_emulator(std::string printed) {
    const std::size_t at = std::getenv("MX_EMULATED") != nullptr
                               ? printed.rfind("qemu: uncaught target signal 6 (Aborted)")
                               : std::string::npos;
    return at == std::string::npos ? printed : printed.substr(0, at);
}

TEST(ChildOutput, ControlCharactersAreShown) {
    EXPECT_EQ(shown_at_once("a\tb\r\nc"), "a\tb\r\nc");
    EXPECT_EQ(shown_at_once("\x1b[2J\x1b]0;title\a"), "\\x1b[2J\\x1b]0;title\\x07");
    EXPECT_EQ(shown_at_once(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
    EXPECT_EQ(shown_at_once("5 \xC2\xB5s, \xE2\x80\x93 \xC3\xA4"),
              "5 \xC2\xB5s, \xE2\x80\x93 \xC3\xA4");
    EXPECT_EQ(shown_at_once("\xC2\x9B"
                            "2J"),
              "\\xc2\\x9b2J");
    std::string held;
    EXPECT_EQ(shown("\xC2", held), "");
    EXPECT_EQ(shown("\x9B", held), "\\xc2\\x9b");
}

// More than a pipe holds, and more after that; then the child dies with its words unread.
TEST(ChildOutput, NothingThatAChildPrintsIsLostOrHoldsItUp) {
    constexpr std::size_t many = 300000;
    testing::internal::CaptureStderr();
    {
        auto child = ChildProcess::start(STDERR_FILENO, [](ParentChannel parent) {
            const std::string text(many, 'x');
            for (std::size_t at = 0; at < many;) {
                const ssize_t count = ::write(STDERR_FILENO, text.data() + at, many - at);
                if (count <= 0) return;
                at += static_cast<std::size_t>(count);
            }
            parent.send("printed");
            parent.receive();
            if (::write(STDERR_FILENO, "\x1b[2J", 4) == 4) ::abort();
        });
        ASSERT_TRUE(child) << child.error().message;
        EXPECT_EQ(child.value().receive(std::chrono::milliseconds(60000)).text, "printed");
        EXPECT_EQ(child.value().finish(std::chrono::milliseconds(60000)),
                  "killed by signal 6 (Aborted)");
    }
    const std::string printed = without_words_of_emulator(testing::internal::GetCapturedStderr());
    EXPECT_EQ(printed.size(), many + 7);
    EXPECT_EQ(printed.substr(many), "\\x1b[2J");
}

}  // namespace
}  // namespace mx
