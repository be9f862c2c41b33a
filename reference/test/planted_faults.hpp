// planted_faults.txt as data: read by the program that writes the copy with the faults in it, and
// by the test that switches them on.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace mx {

struct PlantedFault {
    std::string name;
    std::string file;      // below reference/
    std::string from, to;  // a text that stands once in the file, and what takes its place
    std::string proof;     // that fails when it is on
};

// Lines "fault NAME", "file PATH", "from TEXT", "to TEXT", "seen PROOF"; "more TEXT" goes on with
// the line before. The list ends at the first line of another kind, which `bad_line` counts.
struct PlantedFaults {
    std::vector<PlantedFault> faults;
    int bad_line = 0;
};

inline std::string* place_of(PlantedFault& fault, const std::string& word) {
    if (word == "fault") return &fault.name;
    if (word == "file") return &fault.file;
    if (word == "from") return &fault.from;
    if (word == "to") return &fault.to;
    return word == "seen" ? &fault.proof : nullptr;
}

inline PlantedFaults read_planted_faults(const std::string& path) {
    PlantedFaults list;
    std::ifstream file(path);
    std::string* last = nullptr;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.empty() || line[0] == '#') continue;
        const std::string word = line.substr(0, line.find(' '));
        if (word == "fault") list.faults.emplace_back();
        if (word != "more" && !list.faults.empty()) last = place_of(list.faults.back(), word);
        if (last == nullptr || word.size() == line.size()) {
            list.bad_line = number;
            break;
        }
        *last += (word == "more" ? "\n" : "") + line.substr(word.size() + 1);
    }
    return list;
}

}  // namespace mx
