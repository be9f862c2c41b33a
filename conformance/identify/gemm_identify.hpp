// How does this device sum? It is asked some two thousand dot products; what explains the answers
// is the machine found, each field with a witness, and the rows of the table that are that machine.
// Data that nothing was learnt from must be predicted bit for bit.
// Used by `mxcheck identify --op gemm`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "conformance/identify/gemm_fit.hpp"
#include "conformance/identify/gemm_subject.hpp"
#include "conformance/identify/gemm_unlearnt.hpp"

namespace mx::identify {

// What happens to a long K.
struct GemmSplit {
    GemmShape shape;
    std::string refusal;     // why it was not asked, "" if it was
    std::string algorithm;   // that the device says it takes, "" if it has no names
    std::int64_t parts = 1;  // seen in the bits
    std::int64_t part = 0;   // elements along k in each
    std::string witness;
    GemmMisses misses;
};

// One decision that the table leaves open of a row, as it is here.
struct GemmSettled {
    std::string row, field;
    std::vector<std::string> values;  // of those that sources have, what the answers leave
    std::string of_row;               // what the row has
    std::string witness;

    bool is_settled() const { return values.size() == 1; }
    bool is_as_row() const { return is_settled() && values.front() == of_row; }
};

struct GemmIdentification {
    GemmProblem setting;
    GemmShape shape;
    GemmMachine machine;                                        // that explains the most
    std::vector<GemmFinding> findings;                          // its fields
    std::vector<std::pair<std::string, std::string>> specials;  // "Inf - Inf": "NaN"
    std::vector<std::string> refusals;  // what the device was asked and does not do
    GemmMisses learnt, unlearnt;        // by the machine, or by the rows if there are some
    // The accumulator alone: the probes without C, with alpha and scales of 1, and the rows that
    // predict all of them. What comes after it may be no epilogue that is known.
    std::uint64_t sums = 0;
    std::vector<std::string> sum_rows;
    std::vector<std::string> rows;  // that predict everything; none where one output is left
    std::string nearest;            // the row that comes nearest
    std::uint64_t nearest_predicted = 0;
    std::vector<std::string> parts;  // "field: device value, row value" against the nearest
    // Of the rows named, or of those that are this device but for what is open of them.
    std::vector<GemmSettled> settled;
    GemmMixture mixture;  // where neither a row nor the machine explains everything
    GemmSplit split;
    std::uint64_t calls = 0, outputs = 0;

    std::uint64_t unexplained() const { return learnt.count + unlearnt.count + split.misses.count; }
};

// The error is a sentence about the device.
Expected<GemmIdentification> identify_gemm(GemmSubject& subject);

// The number after "splitk=" in the name of an algorithm; 1 where there is none.
std::int64_t parts_named(const std::string& algorithm);

}  // namespace mx::identify
