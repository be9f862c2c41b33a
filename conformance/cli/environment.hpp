// What this program is and where it runs: version, commit, CPU, operating system, tables, devices.
#pragma once

#include <string>
#include <vector>

#include "conformance/results/record.hpp"
#include "device/host/device_registry.hpp"

namespace mx::cli {

// "mxcheck 0.1.0 (commit 1a2b3c4, clean)"
std::string version_text();
std::string program_version();
std::string program_commit();
bool is_dirty();

// CPU, cores, operating system, compiler. What cannot be found out is "unknown".
std::vector<results::Field> environment_facts();

// SHA-256 of the format table, the dialect table and the suites, as text.
std::vector<results::Field> table_hashes();

// SHA-256 of the bytes of a file, "unknown" if it cannot be read.
std::string file_hash(const std::string& path);

// Now, in UTC: "2026-11-21T08:00:00Z".
std::string utc_now();

// The devices in this binary.
DeviceRegistry built_in_devices();

// The folder of this executable, "" if it cannot be found out.
std::string executable_folder();

}  // namespace mx::cli
