// What a child prints, on its way to the terminal of the program: its control characters are shown
// and not obeyed. Used by ChildProcess; knows nothing of devices.
#pragma once

#include <string>
#include <string_view>

#include "reference/base/status.hpp"

namespace mx {

// The text with every control character but tabs and line ends as "\x1b". `held` keeps the first
// byte of a character whose second is yet to come, and begins empty.
std::string shown(std::string_view text, std::string& held);

// A pipe whose writing end is the child's standard error.
class ChildOutput {
public:
    static Expected<ChildOutput> open();
    ChildOutput(ChildOutput&& other) noexcept;
    ChildOutput& operator=(ChildOutput&& other) noexcept;
    ~ChildOutput();

    // In the child, before anything else is closed.
    void become_standard_error() const;
    // In the program, once the child is there.
    void close_writing_end();

    // To wait for with poll; -1 when nothing can come any more.
    int descriptor() const { return reading_; }
    // Passes on what is there, at most as much as a pipe holds, and waits for nothing.
    void forward();

private:
    ChildOutput(int reading, int writing) : reading_(reading), writing_(writing) {}

    int reading_ = -1;
    int writing_ = -1;
    std::string held_ = {};
};

}  // namespace mx
