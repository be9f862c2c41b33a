// Which dialect is this? A device is asked a few hundred blocks, each chosen because the decision
// vectors that still explain its answers part on it. What is left is its decision vector.
// Used by `mxcheck identify`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/identify/subject.hpp"

namespace mx::identify {

// One field of the decision vector.
struct Finding {
    std::string field;
    std::vector<std::string> values;  // that explain all answers; one if it is determined
    std::string witness;              // a block on which the other values fail; "" if there is none
};

struct Unexplained {
    std::uint64_t blocks = 0;  // that the decision vector does not predict
    std::uint64_t of = 0;
    // Beside these: blocks whose scale is the predicted NaN and whose elements are not. No element
    // means anything there (OCP MX v1.0 section 5.1), and `run` calls them open too.
    std::uint64_t open = 0;
    std::string witness;     // the first of the blocks
    std::string hypothesis;  // what they have in common, "" if nothing was seen
};

struct HeldRow {
    std::string name;
    std::uint64_t predicted = 0;  // of the answers
    std::string witness;          // the smallest answer against it, "" if there is none
};

struct Identification {
    Setting setting;
    std::vector<Finding> findings;
    Unexplained unexplained;
    // Dialects that predict every answer; if none does, those that predict all that is not open.
    std::vector<std::string> identical;
    std::string nearest;  // if there is none: the one that predicts most
    std::uint64_t nearest_predicted = 0, answers = 0;
    std::vector<std::string> parts;  // "field: device value, dialect value" against the nearest
    std::string partial_block;
    std::vector<std::string> scale_layouts;
    std::uint64_t blocks_asked = 0;
    // Of a format whose scale has a mantissa, in place of findings: every row that was held against
    // the device.
    std::vector<HeldRow> rows;
};

// The error is a sentence about the device.
Expected<Identification> identify(Subject& subject);

}  // namespace mx::identify
