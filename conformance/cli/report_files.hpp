// Every report of a run in its folder.
#pragma once

#include <string>
#include <vector>

#include "conformance/results/attachments.hpp"
#include "reference/base/status.hpp"
#include "reports/model/material.hpp"

namespace mx::cli {

// What was measured beside a run: the files of its folder whose names join its page without being
// asked for, and those named.
Expected<results::Attachments> attachments_of(const std::string& folder,
                                              const std::vector<std::string>& with);

// Returns the paths. Each file appears whole or not at all.
Expected<std::vector<std::string>> write_report_files(const reports::Material& material,
                                                      const std::string& folder);

// Of those files, without their folder.
std::vector<std::string> report_file_names();

}  // namespace mx::cli
