// The planted bugs, and which of them is switched on. Used by the mutants' sources alone.
#pragma once

namespace mx::mutants {

enum class Bug {
#define MX_MUTANT(name, description, shows_on) name,
#include "conformance/mutants/mutants.def"
#undef MX_MUTANT
};

// Of the call that is being answered: every device sets its own, and calls come from one thread at
// a time. Hidden, so that two libraries in one process have one each.
[[gnu::visibility("hidden")]] inline Bug planted = Bug::none;

inline bool has(Bug bug) {
    return bug == planted;
}

}  // namespace mx::mutants
