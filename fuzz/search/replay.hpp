// Finds asked again of a device just opened: those of this search, and what earlier ones left in
// the folder. Used by the command fuzz; prints nothing.
#pragma once

#include <string>
#include <vector>

#include "conformance/results/record.hpp"
#include "device/host/client.hpp"
#include "fuzz/search/shrink.hpp"

namespace mx::fuzz {

struct Replayer {
    Opener open;
    std::string device_argument;  // how repro lines name the device
};

// Asks the cases in their order; what came of the last.
Expected<results::CaseResult> replay(const Replayer& device, const std::vector<Case>& cases);

// FOLDER/finds, which is made where it is not there.
Status make_finds_folder(const std::string& folder);

struct Remembered {
    std::string path;  // of the file that holds the cases
    results::CaseResult result;
};
// Every find in the folder, by the name of its file.
Expected<std::vector<Remembered>> replay_remembered(const Replayer& device,
                                                    const std::string& folder);

// What a find is worth where it cannot be asked again.
results::Verdict verdict_of(Outcome outcome);

}  // namespace mx::fuzz
