// The command line as data: each command declares its options, one parser reads them. Used by the
// cmd_*.cpp files; knows none of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "conformance/session/outcome.hpp"

namespace mx::cli {

// Exit codes; what each means stands in every --help.
inline constexpr int exit_conformant = number_of(session::Outcome::conformant);
inline constexpr int exit_mismatch = number_of(session::Outcome::mismatch);
inline constexpr int exit_usage = number_of(session::Outcome::bad_input);
inline constexpr int exit_device = number_of(session::Outcome::device_fault);
inline constexpr int exit_incomplete = number_of(session::Outcome::incomplete);
inline constexpr int exit_self_test = number_of(session::Outcome::own_fault);
inline constexpr int exit_nothing_tested = number_of(session::Outcome::nothing_tested);

struct Option {
    std::string name;  // "--device", or "CASE" for a positional argument
    std::string help;
    // Where the value goes, and its default. A whole number, a text, several texts (comma
    // separated or repeated), or a flag.
    std::variant<std::string*, std::uint64_t*, std::vector<std::string>*, bool*> target;
    bool required = false;
    // "--op gemm" or "--census": the option, and of a text its value, without which this one would
    // do nothing. Given without it, it is refused; "" for none.
    std::string only_with = {};
};

struct Command {
    std::string name;
    std::string summary;  // one line
    std::string example;  // whole command lines
    std::vector<Option> options;
    std::function<int()> run;  // returns the exit code
    // Those that judge, prove or emulate run only where the oracle is found right.
    bool asks_oracle = true;
};

struct Program {
    std::vector<Command> commands;
    std::string version;
    std::function<std::string()> oracle_fault;  // "" where the oracle may be believed
};

// Parses and runs. Bad usage is one sentence on stderr, with the nearest right name, and exit 2. So
// is standard output that could not be written, where all else is well. An oracle at fault is
// exit 5.
int dispatch(int argc, char** argv, const Program& program);

// "mxcheck: MESSAGE" on stderr, on one line of valid UTF-8 whatever it quotes.
void complain(const std::string& message);

}  // namespace mx::cli
