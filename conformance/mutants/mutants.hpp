// The table of planted bugs, for whoever runs them (the self-test) and for the mutants themselves.
// Knows names and sentences only, nothing of how a bug is planted.
#pragma once

#include <array>
#include <string_view>

namespace mx::mutants {

struct Mutant {
    std::string_view name;  // mutants.so:bug=<name> is the device
    std::string_view description;
    std::string_view shows_on;  // what an input, or the host, must have for it to be seen
};

inline constexpr std::array table{
#define MX_MUTANT(name, description, shows_on) Mutant{#name, description, shows_on},
#include "conformance/mutants/mutants.def"
#undef MX_MUTANT
};

}  // namespace mx::mutants
