// The end of a run: its reports, and what the console says of it.
#pragma once

#include <string>

#include "conformance/results/record.hpp"

namespace mx::cli {

struct Ending {
    std::string out;              // the folder of the reports
    std::string device_argument;  // how repro lines name the device
    std::string duration;         // "4.2 s", or with how much a minute
    int code = 0;                 // the exit code that the cases call for
};

// Returns the exit code: that of the ending, or 2 where a report cannot be written.
int conclude(const results::Run& run, const Ending& ending);

}  // namespace mx::cli
