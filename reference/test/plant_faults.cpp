// Copies files of the oracles with every fault of planted_faults.txt in them, each behind a switch:
//
//     plant_faults LIST REFERENCE_FOLDER OUT_FOLDER
//
// The test of the proofs is built with that copy; what ships is built from the files themselves.
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>

#include "reference/test/planted_faults.hpp"

namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// '@' stands for the switch.
std::string with_switch(std::string text, std::size_t fault) {
    const std::string name = "mx::planted(" + std::to_string(fault) + ")";
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + 1))
        text.replace(at, 1, name);
    return text;
}

// False where the text does not stand in the file exactly once.
bool plant(std::string& text, const mx::PlantedFault& fault, std::size_t number) {
    const std::size_t at = text.find(fault.from);
    if (fault.from.empty() || at == std::string::npos ||
        text.find(fault.from, at + 1) != std::string::npos)
        return false;
    text.replace(at, fault.from.size(), with_switch(fault.to, number));
    return true;
}

// Behind "#pragma once", or first of all.
void add_include(std::string& text) {
    const std::string once = "#pragma once\n",
                      line = "#include \"reference/test/planted_switch.hpp\"\n";
    const std::size_t at = text.find(once);
    text.insert(at == std::string::npos ? 0 : at + once.size(), line);
}

}  // namespace

int main(int count, char** words) {
    if (count != 4)
        return std::fputs("usage: plant_faults LIST REFERENCE_FOLDER OUT_FOLDER\n", stderr), 2;
    const mx::PlantedFaults list = mx::read_planted_faults(words[1]);
    if (list.bad_line != 0 || list.faults.empty())
        return std::fprintf(stderr, "%s:%d: is no line of a fault\n", words[1], list.bad_line), 2;
    std::map<std::string, std::string> files;
    for (std::size_t i = 0; i < list.faults.size(); ++i) {
        const mx::PlantedFault& fault = list.faults[i];
        std::string& text = files[fault.file];
        if (text.empty()) text = text_of(words[2] + ("/" + fault.file));
        if (plant(text, fault, i + 1)) continue;
        return std::fprintf(stderr, "%s: '%s' does not stand in %s exactly once\n",
                            fault.name.c_str(), fault.from.c_str(), fault.file.c_str()),
               2;
    }
    for (auto& [name, text] : files) {
        add_include(text);
        const std::filesystem::path path = std::filesystem::path(words[3]) / "reference" / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    return 0;
}
