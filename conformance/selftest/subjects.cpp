// See subjects.hpp.
#include "conformance/selftest/subjects.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "conformance/mutants/mutants.hpp"
#include "reference/spec/dialects.hpp"

namespace mx::selftest {

Expected<Subjects> find_subjects(const std::string& folder) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
        return Error{ErrorKind::bad_input,
                     "there is no folder of planted bugs at '" + folder + "'"};
    Subjects subjects;
    for (const mutants::Mutant& mutant : mutants::table) {
        const std::string file = "mutant_" + std::string(mutant.name) + ".so";
        const std::string path = (std::filesystem::path(folder) / file).string();
        if (!std::filesystem::is_regular_file(path, ignored))
            return Error{ErrorKind::bad_input,
                         "the planted bug " + file + " is missing in '" + folder + "'"};
        Subject subject{std::string(mutant.name),
                        std::string(mutant.description),
                        std::string(mutant.shows_on),
                        {.name = file, .path = path}};
        if (mutant.name == "none")
            subjects.base = std::move(subject);
        else if (mutant.name == "canary")
            subjects.canary = std::move(subject);
        else
            subjects.bugs.push_back(std::move(subject));
    }
    return subjects;
}

std::vector<std::string> bug_dialects() {
    return {"ocp", "nv"};
}

std::vector<std::string> known_dialects() {
    std::vector<std::string> names;
    for (const Dialect& dialect : dialects)
        if (dialect.is_known()) names.emplace_back(dialect.name);
    return names;
}

// The table's own words: a bug of another place says so first.
bool concerns_mxfp8_blocks(const Subject& subject) {
    constexpr std::array<std::string_view, 12> other_places{
        "convert", "dequantize", "cast", "fp6",       "fp4",  "int8",
        "f16:",    "strided",    "tall", "blocks of", "tile", "layout"};
    return std::ranges::none_of(
        other_places, [&](std::string_view place) { return subject.shows_on.starts_with(place); });
}

}  // namespace mx::selftest
