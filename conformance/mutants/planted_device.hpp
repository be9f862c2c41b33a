// The bug that a configuration names, "bug=ties_away", for each family of planted bugs. Used by the
// four plug-ins; knows no bug.
#pragma once

#include <array>
#include <span>
#include <string>

#include "conformance/mutants/mutants.hpp"
#include "device/kit/configuration.hpp"

namespace mx::mutants {

// The place of the bug in the table of its family, which is its enumerator's value. Without a bug
// the device is the clean base, which every table opens with.
inline std::size_t chosen_bug(std::span<const Mutant> table, kit::Configuration& configuration) {
    const std::string name = configuration.value("bug", table[0].name);
    for (std::size_t place = 0; place < table.size(); ++place)
        if (table[place].name == name) return place;
    kit::invalid("there is no planted bug " + kit::in_double_quotes(name) +
                 " in this library; mxcheck selftest lists them");
}

// What a device with a planted bug tells of itself.
class PlantedFacts {
public:
    PlantedFacts(const std::string& library, std::string_view bug)
        : name_(library + ":bug=" + std::string(bug)) {
        facts_ = {{{"name", name_.c_str()},
                   {"vendor", "mxcheck"},
                   {"notes", "a planted bug, to test the harness with"}}};
    }
    PlantedFacts(const PlantedFacts&) = delete;
    PlantedFacts& operator=(const PlantedFacts&) = delete;

    std::span<const mx_fact> all() const { return facts_; }

private:
    std::string name_;
    std::array<mx_fact, 3> facts_;
};

}  // namespace mx::mutants
