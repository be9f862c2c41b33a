// What the description of a design says about driving it. Read from TOML by description.cpp, and
// written into the plug-in as C++ by generate.cpp; knows no simulator. This folder is compiled on
// the user's machine, beside the verilated design.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mx::rtl {

// A port that holds one value for the whole of a run: a format, a rounding, a test mode.
struct Constant {
    std::string port;
    std::uint64_t value = 0;

    friend bool operator==(const Constant&, const Constant&) = default;
};

// One thing that the design can be asked for. What its operation does not have is "".
struct Mode {
    std::string format = {};    // of convert the element type; of a product the format of A
    std::string format_b = {};  // of B
    std::string dialect = {};
    std::string type = {};  // of the values: what comes in, or what a product or dequantize gives
    std::string rounding = {};
    std::string overflow = {};
    std::vector<Constant> constants = {};

    // Whether a question that fits one of them fits the other.
    bool is_as(const Mode& other) const {
        return format == other.format && format_b == other.format_b && dialect == other.dialect &&
               type == other.type && rounding == other.rounding && overflow == other.overflow;
    }
};

// What a port is for, and its name.
struct Role {
    std::string role;
    std::string port;
};

enum class Order { low_first, high_first };  // where element 0 of a beat stands

struct Setup {
    std::string file = {};  // of the description, for sentences
    std::string top = {};
    std::string operation = {};
    std::int64_t block = 32;
    std::int64_t elements = 32;          // a beat
    std::int64_t rows = 1, columns = 1;  // of D: the tile of a product
    std::int64_t latency = -1;           // in cycles; -1: valid and ready say when
    Order order = Order::low_first;
    std::int64_t reset_active = 0;
    std::int64_t reset_cycles = 2;
    std::vector<Role> ports = {};
    std::vector<Constant> constants = {};
    std::vector<Mode> modes = {};

    // The name of the port of that role, "" where there is none.
    std::string port_of(const std::string& role) const {
        for (const Role& known : ports)
            if (known.role == role) return known.port;
        return "";
    }
};

}  // namespace mx::rtl
