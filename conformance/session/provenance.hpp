// What a record says of where it comes from: this program, its tables, this machine, the time.
#pragma once

#include <string>
#include <vector>

#include "conformance/results/record.hpp"

namespace mx::session {

// What only the build of the program knows.
struct Build {
    std::string version, commit;
    bool is_dirty = false;
    std::string type;  // "Release"
};

// A header with the build, the machine, the tables and the time.
results::RunHeader new_header(const Build& build);

// CPU, cores, operating system, compiler. What cannot be found out is "unknown".
std::vector<results::Field> environment_facts(const Build& build);

// SHA-256 of the bytes of a file, "unknown" if it cannot be read.
std::string file_hash(const std::string& path);

// Now, in UTC: "2026-11-21T08:00:00Z".
std::string utc_now();

}  // namespace mx::session
