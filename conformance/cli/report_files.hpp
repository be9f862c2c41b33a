// Every report of a run in its folder, written and taken away.
#pragma once

#include <string>
#include <vector>

#include "device/host/status.hpp"
#include "reports/model/material.hpp"

namespace mx::cli {

// Returns the paths. Each file appears whole or not at all.
Expected<std::vector<std::string>> write_report_files(const reports::Material& material,
                                                      const std::string& folder);

// Takes them away before the record changes that they speak of: a run that is killed would leave
// the verdict of the one before it. What is not there need not be.
Status remove_report_files(const std::string& folder);

}  // namespace mx::cli
