// Bugs that nobody wrote, as devices: the oracle with the faults that a number draws, asked as the
// planted bugs are. Used by the self-test to hold the causes against that are named for them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/selftest/kill_table.hpp"

namespace mx::selftest {

struct GeneratedTable {
    std::vector<Row> rows;    // those that a case shows
    std::uint64_t drawn = 0;  // with those that none does: the same bits, or bits left open
    std::vector<std::string> problems;  // a cause that is wrong, a bug that could not be tried
};

// So many that show, from the first number of `seed` on, asked by `jobs` processes; `progress` is
// told how many there are. The calling process must have no other thread.
GeneratedTable hunt_generated(std::size_t count, std::uint64_t seed, std::size_t jobs,
                              const std::function<void(std::size_t)>& progress);

// These alone, in this process.
GeneratedTable ask_generated(std::span<const std::uint64_t> numbers);

std::string render_text(const GeneratedTable& table);

}  // namespace mx::selftest
