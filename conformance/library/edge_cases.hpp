// The blocks of values that sit on borders, as the data families of conformance/data make them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.hpp"

namespace mx::library {

struct EdgeRequest {
    std::string format, dialect, type, family;  // family "": all
};

// A block a row.
struct EdgeBlocks {
    ElementFormat type;
    std::int64_t rows = 0, columns = 0;
    std::vector<std::uint32_t> codes;
};
Expected<EdgeBlocks> edge_blocks(const EdgeRequest& request);

}  // namespace mx::library
