// The steps of a survey as a table: what each asks, the command line that asks it, what that writes
// and where it is not run. Used by survey; runs nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/cli/device_choice.hpp"
#include "conformance/results/survey_record.hpp"

namespace mx::cli {

// A device of the survey, and what was found out of it before the first step.
struct Subject {
    DeviceChoice choice;
    std::string folder;  // in the bundle
    bool lists_algorithms = false;
    bool has_maps = false;      // sweeps that its run does not have
    std::string no_large = {};  // why it is not asked level large; "" where it is
};

struct Effort {
    bool is_quick = false;
    std::string fuzz_time = {};
    std::string waivers = {};  // file, "" without
    std::uint64_t timeout = 60;
};

// A step, ready to run.
struct PlannedStep {
    results::SurveyStep step;                        // nothing of it has ended yet
    std::vector<std::vector<std::string>> commands;  // arguments of this program, one after another
    // Of each: what it is given, too, where that file is there from a piece that was cut.
    std::string resume, resumed_file;
    std::string scratch;  // a file that is removed afterwards, "" for none
    std::string log;      // for standard output, where that is not the record
    bool prints_record = false;
};

// In order: those of the machine first, then those of each device. `out` is the bundle's folder.
std::vector<PlannedStep> planned_steps(const std::vector<Subject>& subjects, const Effort& effort,
                                       const std::string& out);

}  // namespace mx::cli
