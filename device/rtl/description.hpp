// The TOML file that describes a design to `--device rtl:FILE`: what to verilate, and how to drive
// it. README.md lists its keys. Starts nothing.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/rtl/driver/setup.hpp"
#include "reference/base/status.hpp"

namespace mx::rtl {

struct Description {
    std::string path;  // of the TOML file
    Setup setup = {};
    std::vector<std::string> files = {}, include = {};                 // as Verilator is given them
    std::vector<std::pair<std::string, std::string>> parameters = {};  // of the top module
    std::vector<std::pair<std::string, std::string>> defines = {};     // value "" where it has none
};

// A sentence with the file, the line and the key otherwise.
Expected<Description> read_description(const std::string& path);
// The same of the text of a file; its sources are looked for beside `path`.
Expected<Description> parse_description(std::string_view text, const std::string& path);

// A port of the verilated design, as the header says that Verilator has made.
struct DesignPort {
    std::string name;
    enum class Way { in, out } way = Way::in;
    int bits = 0;
    int count = 1;  // of an unpacked array
};

std::vector<DesignPort> ports_in(const std::string& header);

// Whether every port that the description names is there, goes its way, and has room for what it
// is to carry.
Status check_ports(const Description& description, const std::vector<DesignPort>& ports);

}  // namespace mx::rtl
