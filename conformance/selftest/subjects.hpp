// Who stands trial: the clean base, the canary and the planted bugs, with where each plug-in lies;
// and those of a GPU. Used by the self-test and its command. Opens no plug-in.
#pragma once

#include <string>
#include <vector>

#include "conformance/case/case.hpp"
#include "device/host/device_source.hpp"
#include "reference/base/status.hpp"

namespace mx::selftest {

struct Subject {
    std::string name;         // "ties_away"
    std::string description;  // what is wrong with it
    std::string shows_on;     // what an input, or the host, must have for it to be seen
    DeviceSource source;
    std::string does = {};  // the kinds of cause that it declares, "A | B"; "": it declares none
};

// The planted bugs of a GPU. Every build knows their names.
struct GpuSubjects {
    std::string absence;  // why there are no plug-ins of them, "" when there are
    Subject base;
    std::vector<Subject> bugs;
};

// The planted bugs of one library.
struct Cast {
    Subject base;
    Subject canary;
    std::vector<Subject> bugs;  // none: they are not asked
};

// Those of the CPU are not asked where `bugs` is empty, those of a GPU where gpu.bugs is.
struct Subjects {
    Subject base;    // nothing is wrong with it
    Subject canary;  // everything is
    std::vector<Subject> bugs;
    GpuSubjects gpu = {};
    Cast gemm = {};
    Cast real_scales = {};  // of blocks whose scale has a mantissa
};

// Every line of conformance/mutants/mutants.def, of gemm/gemm_mutants.def, of
// real_scale/real_scale_mutants.def and of gpu/gpu_mutants.def, from the plug-ins in `folder`. The
// error names the folder or the plug-in that is missing. That those of a GPU are missing is no
// error: they cannot be built everywhere.
Expected<Subjects> find_subjects(const std::string& folder);

// The same, of those of a GPU alone.
Expected<Subjects> find_gpu_subjects(const std::string& folder);

// The dialects that the planted bugs speak.
std::vector<std::string> bug_dialects();
std::vector<std::string> real_scale_bug_dialects();

// Whether a case is of the one kind that the planted bugs of a GPU answer, all of it.
bool gpu_bugs_answer(const Case& c);

// Those that the oracle speaks: all but the ones that wait for a measurement.
std::vector<std::string> known_dialects();

// True unless the bug is in another operation, format, input type or layout than those that other
// projects' rules look at: dense blocks of 32 in rows or columns, quantized to MXFP8.
bool concerns_mxfp8_blocks(const Subject& subject);

}  // namespace mx::selftest
