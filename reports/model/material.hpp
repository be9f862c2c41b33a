// All that a page is made of: a run, and what was measured beside it. Used by every renderer. Must
// not know any format of output.
#pragma once

#include <string>

#include "conformance/results/attachments.hpp"
#include "conformance/results/record.hpp"

namespace mx::reports {

// Points to what outlives it.
struct Material {
    Material(const results::Run& only_run) : run(only_run) {}  // a run alone is enough

    const results::Run& run;
    const results::Attachments* attached = nullptr;
    const results::Run* baseline = nullptr;  // an older run to compare with
    // The file beside the page in which a block is explained step by step; "" where there is none.
    std::string explain_page;
};

}  // namespace mx::reports
