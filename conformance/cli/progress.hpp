// Progress of a long command on stderr: a line that renews itself on a terminal, a heartbeat line
// every ten seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace mx::cli {

// True when stderr is a terminal that understands control characters.
bool stderr_is_terminal();

// True when the stream (1 or 2) may be coloured: NO_COLOR, CLICOLOR_FORCE, terminal, TERM.
bool may_colour(int stream);

class Progress {
public:
    // A total of 0: nobody knows how many there will be.
    Progress(std::string noun, std::uint64_t total);
    ~Progress();  // takes the line off the terminal

    // `note` follows the rate: mismatches so far, the current family.
    void update(std::uint64_t done, const std::string& note);
    // Takes the line away, so that something else can be printed.
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    std::string text(std::uint64_t done, const std::string& note) const;

    std::string noun_;
    std::uint64_t total_;
    bool terminal_;
    bool shown_ = false;
    Clock::time_point start_, last_;
};

// "1m 23s", "4.2 s"
std::string duration_text(double seconds);

}  // namespace mx::cli
