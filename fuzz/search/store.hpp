// A search on disk: where each worker stands, so that another run can go on there, and each find
// as a file of case lines that `mxcheck replay` takes one by one. Used by the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/search/search.hpp"

namespace mx::fuzz {

// FOLDER/worker-0.json
std::string state_path(const std::string& folder, std::uint64_t worker);

// `scope` is what the search was asked for, in words; only a search of the same goes on.
Status store_state(const std::string& path, const std::string& scope, const Search& search);
Status restore_state(const std::string& path, const std::string& scope, Search& search);

// FOLDER/finds/quantize-mxfp8-e4m3-tie-1-code.case. Lines that begin with # tell what it is; each
// other line is a case, and the last one fails once those before it were asked.
std::string find_path(const std::string& folder, const Find& find);
Status store_find(const std::string& path, const Found& found);
Expected<std::vector<Case>> read_find(const std::string& path);

}  // namespace mx::fuzz
