// Names of the contract as values of a device's own: a table of names, looked up with a sentence
// for the one that it has not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "device/kit/refusal.hpp"

namespace mx::kit {

template <typename T>
struct Named {
    std::string_view name;  // "" stands for NULL: not given
    T value;
};

inline std::string_view text_of(const char* text) {
    return text == nullptr ? std::string_view() : std::string_view(text);
}
inline std::string in_double_quotes(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}
inline std::string in_double_quotes(const char* text) {
    return text == nullptr ? "NULL" : in_double_quotes(std::string_view(text));
}

// The value of that name, or nullptr.
template <typename T, std::size_t count>
constexpr const T* find(const Named<T> (&table)[count], std::string_view name) {
    for (const Named<T>& row : table)
        if (row.name == name) return &row.value;
    return nullptr;
}

// "a, b and c"
template <typename T, std::size_t count>
std::string names_in(const Named<T> (&table)[count]) {
    std::string names;
    for (std::size_t i = 0; i < count; ++i) {
        if (table[i].name.empty()) continue;
        if (!names.empty()) names += i + 1 == count ? " and " : ", ";
        names += table[i].name;
    }
    return names;
}

// The value of that name. Refuses an unknown one: `no axis "diagonal"; this device knows row, col`.
template <typename T, std::size_t count>
const T& choose(const Named<T> (&table)[count], const char* name, std::string_view kind) {
    if (const T* value = find(table, text_of(name))) return *value;
    not_supported("no " + std::string(kind) + " " + in_double_quotes(name) +
                  "; this device knows " + names_in(table));
}

// Of a device that knows a single name of that kind.
inline void expect_name(std::string_view kind, const char* name, std::string_view known) {
    if (text_of(name) != known)
        not_supported("no " + std::string(kind) + " " + in_double_quotes(name) +
                      "; this device knows " + std::string(known));
}

}  // namespace mx::kit
