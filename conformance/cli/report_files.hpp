// Writes every report of a run into a folder.
#pragma once

#include <string>
#include <vector>

#include "device/host/status.hpp"
#include "reports/model/material.hpp"

namespace mx::cli {

// Returns the paths. Each file appears whole or not at all.
Expected<std::vector<std::string>> write_report_files(const reports::Material& material,
                                                      const std::string& folder);

}  // namespace mx::cli
