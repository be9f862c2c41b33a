// Who stands trial: the clean base, the canary and the planted bugs, with where each plug-in lies.
// Used by the self-test and its command. Opens no plug-in.
#pragma once

#include <string>
#include <vector>

#include "device/host/device_source.hpp"
#include "device/host/status.hpp"

namespace mx::selftest {

struct Subject {
    std::string name;         // "ties_away"
    std::string description;  // what is wrong with it
    std::string shows_on;     // what an input, or the host, must have for it to be seen
    DeviceSource source;
};

struct Subjects {
    Subject base;    // nothing is wrong with it
    Subject canary;  // everything is
    std::vector<Subject> bugs;
};

// Every line of conformance/mutants/mutants.def, from the plug-ins in `folder`. The error names the
// folder or the plug-in that is missing.
Expected<Subjects> find_subjects(const std::string& folder);

// The dialects that the planted bugs speak.
std::vector<std::string> bug_dialects();

// Those that the oracle speaks: all but the ones that wait for a measurement.
std::vector<std::string> known_dialects();

// True unless the bug is in another operation, format, input type or layout than those that other
// projects' rules look at: dense blocks of 32 in rows or columns, quantized to MXFP8.
bool concerns_mxfp8_blocks(const Subject& subject);

}  // namespace mx::selftest
