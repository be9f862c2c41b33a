// This very program once more, as a child, with another command line. Used by survey; knows no
// command.
#pragma once

#include <string>
#include <vector>

#include "reference/base/status.hpp"

namespace mx::cli {

struct ProgramEnd {
    int exit_code = 0;   // 5 where a signal ended it: the fault is ours
    std::string signal;  // "killed by signal 11", "" where it ended by itself
    std::string words;   // the last line that it wrote to stderr, without "mxcheck: "
};

// Its standard output goes to a file, its standard error here. An interrupt of this process is
// handed on once; a second one ends both.
Expected<ProgramEnd> run_own_program(const std::vector<std::string>& arguments,
                                     const std::string& stdout_path);

}  // namespace mx::cli
