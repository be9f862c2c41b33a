// Tests of several processes that share the cases of a run: order, devices that do not open or
// close, and processes that end.
#include "conformance/session/workers.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace mx::session {
namespace {

// By which process and of which place.
Expected<std::string> line_at(std::size_t index) {
    return std::to_string(::getpid()) + " case " + std::to_string(index) + "\n";
}

TEST(Workers, ReturnResultsInOrderFromEveryProcess) {
    std::vector<std::size_t> remaining;
    for (std::size_t i = 0; i < 1000; ++i) remaining.push_back(3 * i);
    auto workers = Workers::start(3, remaining, [] {
        return Expected(Workers::Work{[](std::size_t i) { return line_at(i); }});
    });
    ASSERT_TRUE(workers.ok());
    std::vector<std::string> processes;
    for (const std::size_t i : remaining) {
        const auto result = workers.value().next();
        ASSERT_TRUE(result.ok());
        ASSERT_TRUE(result.value().has_value());
        const std::string& line = *result.value();
        const std::size_t blank = line.find(' ');
        EXPECT_EQ(line.substr(blank), " case " + std::to_string(i));
        processes.push_back(line.substr(0, blank));
    }
    EXPECT_NE(processes[0], processes[1]);
    EXPECT_NE(processes[0], processes[2]);
    EXPECT_EQ(processes[0], processes[999]);
    EXPECT_NE(processes[0], std::to_string(::getpid()));
}

TEST(Workers, TellHowTheyClosed) {
    for (const bool is_sound : {true, false}) {
        auto workers = Workers::start(2, {0, 1, 2}, [is_sound] {
            return Expected(Workers::Work{[](std::size_t i) { return line_at(i); },
                                          [is_sound]() -> Status {
                                              if (is_sound) return success();
                                              return Error{ErrorKind::device, "it fell over"};
                                          }});
        });
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(workers.value().next().value().has_value());
        const Status closed = workers.value().close();
        EXPECT_EQ(closed.ok(), is_sound);
        EXPECT_EQ(closed ? "" : closed.error().message, is_sound ? "" : "it fell over");
    }
}

TEST(Workers, PassOnWhatWentWrong) {
    auto unable = Workers::start(2, {0, 1}, []() -> Expected<Workers::Work> {
        return Error{ErrorKind::device, "it did not open"};
    });
    const auto unopened = unable.value().next();
    ASSERT_FALSE(unopened.ok());
    EXPECT_EQ(unopened.error().kind, ErrorKind::device);
    EXPECT_EQ(unopened.error().message, "it did not open");

    auto dying = Workers::start(2, {0, 1}, [] {
        return Expected(Workers::Work{[](std::size_t i) {
            if (i == 1) ::raise(SIGKILL);
            return line_at(i);
        }});
    });
    EXPECT_TRUE(dying.value().next().ok());
    // As if the run had been interrupted: --resume goes on.
    const auto gone = dying.value().next();
    ASSERT_TRUE(gone.ok());
    EXPECT_FALSE(gone.value().has_value());
    EXPECT_TRUE(dying.value().lost());
    EXPECT_FALSE(unable.value().lost());
}

}  // namespace
}  // namespace mx::session
