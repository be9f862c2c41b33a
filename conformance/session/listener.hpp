// What a caller is told while the session works; what it does with that, printing say, is its own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "conformance/results/record.hpp"

namespace mx::session {

// Takes a sentence for the user.
using Say = std::function<void(const std::string&)>;

struct Listener {
    Say say = [](const std::string&) {};
    // A result that was just recorded, and its place in the lists of this part of the run.
    std::function<void(const results::CaseResult&, std::size_t)> recorded =
        [](const results::CaseResult&, std::size_t) {};
};

}  // namespace mx::session
