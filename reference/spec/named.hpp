// Finding a row of a table by its name: the one way from text to what text stands for. It is for
// edges alone (a case line, the command line, a file, the device ABI), and counted, so that a test
// can say that nothing between the edges asks a second time.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace mx {

// How often this thread has looked a name up.
inline thread_local constinit std::uint64_t names_looked_up = 0;

inline void count_lookup() {
    ++names_looked_up;
}

// What a row is found by: its name, or the first of a pair.
template <typename Row>
constexpr std::string_view key_of(const Row& row) {
    if constexpr (requires { row.name; })
        return row.name;
    else
        return row.first;
}

// Returns nullptr when no row has that name.
template <typename Table>
constexpr auto find_named(const Table& table, std::string_view name) -> decltype(&*table.begin()) {
    if (!std::is_constant_evaluated()) count_lookup();
    for (const auto& row : table)
        if (key_of(row) == name) return &row;
    return nullptr;
}

// The way back, of a table of pairs of names and values: each value stands in it once.
template <typename Table, typename Value>
constexpr std::string_view name_in(const Table& table, const Value& value) {
    for (const auto& [name, named] : table)
        if (named == value) return name;
    return "";
}

}  // namespace mx
