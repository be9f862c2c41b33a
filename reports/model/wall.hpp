// What the records of the wall come to: a word for each row, counts, what was not known. Used by
// the pages of the wall. Must not know any format of output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results/wall_record.hpp"

namespace mx::reports {

struct Wall {
    std::vector<results::WallRecord> records;  // by the names of the libraries
    std::vector<results::Finding> findings;
};

// "equal", "equal but for open decisions", "differs", or why nothing can be said.
std::string_view word_of(const results::WallRow& row);

// The decisions that the rows of the table leave open, of "the source leaves open: a, b".
std::string decisions_of(const results::WallRow& row);

// "0.6.0", "owner/name@commit", or both.
std::string version_of(const results::WallRecord& record);

std::uint64_t bytes_of(const results::WallRecord& record);
// "3 equal, 1 differs"
std::string verdicts_of(const results::WallRecord& record);
// What the pages show of a row, but its verdict: operation, format, dialect, open decisions,
// inputs, axes, bytes, elements and scales that differ.
std::vector<std::string> cells_of(const results::WallRow& row);
// Library, vendor, version, place, date, verdicts, bytes, the command that asks again.
std::vector<std::string> cells_of(const results::WallRecord& record);

// "27 libraries and devices, 31,234,567 bytes compared; ..."
std::string sentence_of(const Wall& wall);

}  // namespace mx::reports
