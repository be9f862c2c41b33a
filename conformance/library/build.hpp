// Who built the library. Apart from the rest, because it changes with every commit.
#pragma once

namespace mx::library {

// A JSON object; lives as long as the program.
const char* build_json();

}  // namespace mx::library
