// What mxcheck relate found as the record that every run leaves: a relation is a case. Used by that
// command alone; asks no device.
#pragma once

#include <string>

#include "conformance/relation/suite.hpp"
#include "conformance/results/record.hpp"

namespace mx::cli {

struct RelatedCase {
    const relation::Setting& setting;
    const relation::Result& result;
    std::string text;   // the options that ask this relation, but for the device
    std::string repro;  // the whole one that asks the sample that broke it
};
results::CaseResult record_of(const RelatedCase& related);

// Makes the folder, before anything is asked for its sake; "" is none.
Status prepare_record(const std::string& out);

// Writes results.jsonl and the reports of a run whose header and cases are there. The cases are
// those of a run that ended, unless fewer than the header counts. Returns the exit code.
int write_record(results::Run run, const std::string& out, int exit_code);

}  // namespace mx::cli
