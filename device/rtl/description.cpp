// See description.hpp. Includes toml++, as the reader of waivers does.
#include "device/rtl/description.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

#include "reference/base/files.hpp"
#include "reference/base/text.hpp"
#include "reference/base/toml_text.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::rtl {
namespace {

using Names = std::vector<std::string>;

struct Operation {
    std::string_view name;
    Names inputs, outputs;  // the roles of ports that it must have
    Names keys;             // of a [[mode]], each in its place below
};

// The keys of a [[mode]], and where each goes.
struct ModeKey {
    std::string_view name;
    std::string Mode::*member;
};
constexpr std::array mode_keys{
    ModeKey{"format", &Mode::format},     ModeKey{"a", &Mode::format},
    ModeKey{"b", &Mode::format_b},        ModeKey{"dialect", &Mode::dialect},
    ModeKey{"input", &Mode::type},        ModeKey{"output", &Mode::type},
    ModeKey{"rounding", &Mode::rounding}, ModeKey{"overflow", &Mode::overflow},
};

const std::vector<Operation>& operations() {
    static const std::vector<Operation> known{
        {"convert", {"values"}, {"codes"}, {"format", "dialect", "input", "rounding", "overflow"}},
        {"quantize", {"values"}, {"codes", "scales"}, {"format", "dialect", "input"}},
        {"dequantize", {"codes", "scales"}, {"values"}, {"format", "dialect", "output"}},
        {"dot", {"a", "b", "scales_a", "scales_b"}, {"d"}, {"a", "b", "output"}},
        {"gemm", {"a", "b", "scales_a", "scales_b"}, {"d"}, {"a", "b", "output"}},
    };
    return known;
}

const Operation* operation_named(std::string_view name) {
    const auto found = std::ranges::find(operations(), name, &Operation::name);
    return found == operations().end() ? nullptr : &*found;
}

// "; did you mean 'reset'?", or all that it may be.
std::string hint_at(const std::string& name, const Names& known) {
    const std::string near = nearest_name(name, known);
    return near.empty() ? "; known are " + joined(known, ", ") : "; did you mean '" + near + "'?";
}

// Reads a table key by key. The first thing that is wrong is kept, and nothing read after it
// counts.
class Reader {
public:
    explicit Reader(std::string name) : name_(std::move(name)) {}

    const std::optional<Error>& error() const { return error_; }
    void refuse(std::size_t line, const std::string& sentence) {
        if (!error_)
            error_ = bad_input(name_ + ":" + std::to_string(line) + ": " + printable(sentence));
    }
    static std::size_t line_of(const toml::node& node) { return node.source().begin.line; }

    void expect_keys(const toml::table& table, const std::string& where, const Names& known) {
        for (const auto& [key, node] : table) {
            const std::string name(key.str());
            if (std::ranges::find(known, name) == known.end())
                refuse(line_of(node), "unknown key '" + name + "'" + where + hint_at(name, known));
        }
    }
    void expect_name(std::size_t line, const std::string& key, const std::string& name,
                     const Names& known) {
        if (std::ranges::find(known, name) == known.end())
            refuse(line, "'" + key + "' is '" + name + "'" + hint_at(name, known));
    }

    std::string text(const toml::table& table, const std::string& key) {
        const toml::node* node = table.get(key);
        if (node == nullptr) {
            refuse(line_of(table), "'" + key + "' is missing");
            return "";
        }
        return text_of(*node, key);
    }
    std::string text_or(const toml::table& table, const std::string& key,
                        const std::string& otherwise) {
        return table.contains(key) ? text(table, key) : otherwise;
    }
    Names texts(const toml::table& table, const std::string& key) {
        Names found;
        const toml::node* node = table.get(key);
        if (node == nullptr) return found;
        const toml::array* array = node->as_array();
        if (array == nullptr) return {text_of(*node, key)};
        for (const toml::node& element : *array) found.push_back(text_of(element, key));
        return found;
    }
    std::int64_t number_or(const toml::table& table, const std::string& key, std::int64_t otherwise,
                           std::pair<std::int64_t, std::int64_t> limits) {
        const toml::node* node = table.get(key);
        if (node == nullptr) return otherwise;
        const std::optional<std::int64_t> value = node->value_exact<std::int64_t>();
        if (value && *value >= limits.first && *value <= limits.second) return *value;
        refuse(line_of(*node), "'" + key + "' is no number from " + std::to_string(limits.first) +
                                   " to " + std::to_string(limits.second));
        return otherwise;
    }
    const toml::table* table(const toml::table& parent, const std::string& key) {
        const toml::node* node = parent.get(key);
        if (node == nullptr) return nullptr;
        if (node->as_table() == nullptr)
            refuse(line_of(*node), "'" + key + "' is no table; write [" + key + "]");
        return node->as_table();
    }

    std::vector<Constant> constants(const toml::table& parent, const std::string& key) {
        std::vector<Constant> found;
        const toml::table* listed = table(parent, key);
        if (listed == nullptr) return found;
        for (const auto& [port, node] : *listed) {
            const std::string name(port.str());
            found.push_back(
                {name, static_cast<std::uint64_t>(number_or(*listed, name, 0, {0, 0xFFFFFFFF}))});
        }
        return found;
    }
    // Names with a value that may be a number or a text; `true` is no value.
    std::vector<std::pair<std::string, std::string>> settings(const toml::table& parent,
                                                              const std::string& key) {
        std::vector<std::pair<std::string, std::string>> found;
        const toml::table* listed = table(parent, key);
        if (listed == nullptr) return found;
        for (const auto& [name, node] : *listed) {
            std::string value;
            if (const auto number = node.value_exact<std::int64_t>())
                value = std::to_string(*number);
            else if (const auto words = node.value_exact<std::string>())
                value = *words;
            else if (!node.value_exact<bool>().value_or(false))
                refuse(line_of(node), "'" + std::string(name.str()) + "' in [" + key +
                                          "] is neither a number, a text nor true");
            found.emplace_back(name.str(), value);
        }
        return found;
    }

private:
    std::string text_of(const toml::node& node, const std::string& key) {
        const auto value = node.value_exact<std::string>();
        if (!value || value->empty()) refuse(line_of(node), "'" + key + "' is no text");
        return value.value_or("");
    }

    std::string name_;
    std::optional<Error> error_;
};

// What a key of a [[mode]] may say. A stochastic rounding has no port for its random words.
Names names_for(std::string_view key, const Operation& operation) {
    Names names;
    if (key == "dialect") {
        for (const Quantizer& row : e8m0_quantizers) names.emplace_back(row.name);
    } else if (key == "input" || key == "output") {
        names.assign(input_types.begin(), input_types.end());
    } else if (key == "rounding") {
        for (const auto& [name, rounding] : roundings)
            if (rounding != Rounding::stochastic) names.emplace_back(name);
    } else if (key == "overflow") {
        for (const auto& [name, overflow] : overflows) names.emplace_back(name);
    } else if (operation.name == "convert") {
        for (const BlockFormat& format : mx_block_formats)
            names.emplace_back(format.element().name);
        names.emplace_back(formats::e8m0.name);
    } else {
        for (const BlockFormat& format : mx_block_formats) names.emplace_back(format.name);
    }
    return names;
}

// All ways to choose one text for each key of the operation.
std::vector<Mode> modes_of(Reader& reader, const toml::table& table, const Operation& operation) {
    Names known = operation.keys;
    known.emplace_back("constants");
    reader.expect_keys(table, " in [[mode]]", known);
    std::vector<Mode> modes(1);
    modes[0].constants = reader.constants(table, "constants");
    for (const std::string& key : operation.keys) {
        const auto place = std::ranges::find(mode_keys, key, &ModeKey::name);
        const Names values = reader.texts(table, key);
        if (values.empty())
            reader.refuse(Reader::line_of(table), "'" + key + "' is missing in [[mode]]");
        for (const std::string& value : values)
            reader.expect_name(Reader::line_of(*table.get(key)), key, value,
                               names_for(key, operation));
        std::vector<Mode> more;
        for (const Mode& mode : modes)
            for (const std::string& value : values) {
                more.push_back(mode);
                more.back().*place->member = value;
            }
        modes = std::move(more);
    }
    return modes;
}

// Of an element or of a block format; 0 where there is none of that name.
int code_bits(std::string_view name) {
    if (const BlockFormat* format = find_block_format(name)) return format->element().code_bits();
    const ElementFormat* format = find_element_format(name);
    return format == nullptr ? 0 : format->code_bits();
}

void read_modes(Reader& reader, const toml::table& root, const Operation& operation, Setup& setup) {
    const toml::node* node = root.get("mode");
    const toml::array* tables = node == nullptr ? nullptr : node->as_array();
    if (tables == nullptr || tables->empty()) {
        reader.refuse(node == nullptr ? 1 : Reader::line_of(*node),
                      "there is no [[mode]]; each says one thing that the design can do");
        return;
    }
    for (const toml::node& mode : *tables) {
        if (mode.as_table() == nullptr) {
            reader.refuse(Reader::line_of(mode), "a mode stands under [[mode]], in two brackets");
            continue;
        }
        for (Mode& found : modes_of(reader, *mode.as_table(), operation)) {
            if (std::ranges::any_of(setup.modes, [&](const Mode& m) { return m.is_as(found); }))
                reader.refuse(Reader::line_of(mode),
                              "what this [[mode]] does, one before it does already");
            setup.modes.push_back(std::move(found));
        }
    }
}

void read_ports(Reader& reader, const toml::table& root, const Operation& operation, Setup& setup) {
    Names known{"in_valid", "in_ready", "out_valid", "out_ready"};
    known.insert(known.end(), operation.inputs.begin(), operation.inputs.end());
    known.insert(known.end(), operation.outputs.begin(), operation.outputs.end());
    if (operation.name == "dot" || operation.name == "gemm") known.emplace_back("last");
    static const toml::table none;
    const toml::table* listed = reader.table(root, "ports");
    const toml::table& ports = listed == nullptr ? none : *listed;
    reader.expect_keys(ports, " in [ports]", known);
    Names needed = operation.inputs;
    needed.insert(needed.end(), operation.outputs.begin(), operation.outputs.end());
    if (setup.latency < 0) needed.insert(needed.end(), {"in_valid", "out_valid"});
    for (const std::string& role : known) {
        const bool is_given = ports.contains(role);
        if (!is_given && std::ranges::find(needed, role) != needed.end())
            reader.refuse(
                listed == nullptr ? 1 : Reader::line_of(ports),
                "'" + role + "' is missing in [ports]" +
                    (role.ends_with("valid") ? "; a design without valid has 'latency'" : ""));
        if (is_given && setup.latency >= 0 && role.ends_with("ready"))
            reader.refuse(Reader::line_of(*ports.get(role)),
                          "'" + role + "': a design with 'latency' takes a beat in each cycle");
        if (is_given) setup.ports.push_back({role, reader.text(ports, role)});
    }
}

void read_clock(Reader& reader, const toml::table& root, Setup& setup) {
    if (const toml::table* clock = reader.table(root, "clock")) {
        reader.expect_keys(*clock, " in [clock]", {"port"});
        setup.ports.push_back({"clock", reader.text(*clock, "port")});
    }
    if (const toml::table* reset = reader.table(root, "reset")) {
        reader.expect_keys(*reset, " in [reset]", {"port", "active", "cycles"});
        setup.ports.push_back({"reset", reader.text(*reset, "port")});
        setup.reset_active = reader.number_or(*reset, "active", 0, {0, 1});
        setup.reset_cycles = reader.number_or(*reset, "cycles", 2, {1, 10000});
    }
    if (setup.port_of("clock").empty() && setup.latency != 0)
        reader.refuse(1, "[clock] is missing; a design without a clock has latency = 0");
}

// A port has one job: the driver would write over what it has written.
void expect_different_ports(Reader& reader, const Setup& setup) {
    std::map<std::string, std::string> jobs;
    const auto take = [&](const std::string& job, const std::string& port) {
        const auto [known, is_new] = jobs.emplace(port, job);
        if (!is_new && known->second != job)
            reader.refuse(1, "the port '" + port + "' stands twice, for " + known->second +
                                 " and for " + job);
    };
    for (const Role& role : setup.ports) take("'" + role.role + "'", role.port);
    for (const Constant& constant : setup.constants) take("a constant", constant.port);
    for (const Mode& mode : setup.modes)
        for (const Constant& constant : mode.constants) take("a constant", constant.port);
}

void read_shape(Reader& reader, const toml::table& root, Setup& setup) {
    constexpr std::pair<std::int64_t, std::int64_t> sizes{1, 4096};
    const bool is_product = setup.operation == "dot" || setup.operation == "gemm";
    setup.block = reader.number_or(root, "block", 32, sizes);
    setup.elements = reader.number_or(root, "elements", setup.block, sizes);
    setup.latency = reader.number_or(root, "latency", -1, {0, 10000});
    if (is_product && setup.elements != setup.block)
        reader.refuse(Reader::line_of(*root.get("elements")),
                      "'elements' of a product is the block: a beat is one block of each row");
    if (setup.operation != "convert" && setup.block % setup.elements != 0)
        reader.refuse(Reader::line_of(*root.get("elements")),
                      "'block' = " + std::to_string(setup.block) +
                          " is no multiple of 'elements' = " + std::to_string(setup.elements));
    const std::string order = reader.text_or(root, "order", "low-first");
    if (root.contains("order"))
        reader.expect_name(Reader::line_of(*root.get("order")), "order", order,
                           {"low-first", "high-first"});
    setup.order = order == "low-first" ? Order::low_first : Order::high_first;
    const std::int64_t block = setup.block;
    if (is_product ? block != 32 : block != 16 && block != 32 && block != 64)
        reader.refuse(Reader::line_of(*root.get("block")),
                      "'block' is " + std::to_string(block) + ", and may be " +
                          (is_product ? "32 in a product" : "16, 32 or 64"));
    const auto belongs = [&](const char* key, bool is_at_home, const char* home) {
        if (root.contains(key) && !is_at_home)
            reader.refuse(Reader::line_of(*root.get(key)),
                          "'" + std::string(key) + "' belongs to " + home);
    };
    belongs("block", setup.operation != "convert", "operations on blocks; convert has 'elements'");
    belongs("rows", setup.operation == "gemm", "operation = \"gemm\"");
    belongs("columns", setup.operation == "gemm", "operation = \"gemm\"");
    if (setup.operation == "gemm") {
        setup.rows = reader.number_or(root, "rows", 1, sizes);
        setup.columns = reader.number_or(root, "columns", 1, sizes);
    }
}

void read_files(Reader& reader, const toml::table& root, Description& description) {
    const std::filesystem::path folder = std::filesystem::path(description.path).parent_path();
    const auto placed = [&](const std::string& key) {
        Names paths = reader.texts(root, key);
        for (std::string& path : paths) {
            path = std::filesystem::absolute(folder / path).lexically_normal().string();
            std::error_code ignored;
            const auto status = std::filesystem::status(path, ignored);
            const bool is_folder = std::filesystem::is_directory(status);
            const std::size_t line = Reader::line_of(*root.get(key));
            if (!std::filesystem::exists(status))
                reader.refuse(line, "'" + key + "': " + path + " does not exist");
            else if (is_folder != (key == "include"))
                reader.refuse(line, "'" + key + "': " + path +
                                        (is_folder ? " is a folder" : " is no folder"));
        }
        return paths;
    };
    description.files = placed("files");
    description.include = placed("include");
    if (description.files.empty()) reader.refuse(1, "'files' is missing");
}

Expected<Description> described(const toml::table& root, const std::string& path) {
    Reader reader(path);
    Description description{.path = path};
    Setup& setup = description.setup;
    setup.file = path;
    reader.expect_keys(
        root, "",
        {"top", "files", "include", "operation", "block", "elements", "latency", "order", "rows",
         "columns", "parameters", "defines", "clock", "reset", "ports", "constants", "mode"});
    setup.top = reader.text(root, "top");
    setup.operation = reader.text(root, "operation");
    if (reader.error()) return *reader.error();
    Names operation_names;
    for (const Operation& known : operations()) operation_names.emplace_back(known.name);
    reader.expect_name(Reader::line_of(*root.get("operation")), "operation", setup.operation,
                       operation_names);
    if (reader.error()) return *reader.error();
    const Operation* operation = operation_named(setup.operation);
    read_files(reader, root, description);
    read_shape(reader, root, setup);
    description.parameters = reader.settings(root, "parameters");
    description.defines = reader.settings(root, "defines");
    read_ports(reader, root, *operation, setup);
    read_clock(reader, root, setup);
    setup.constants = reader.constants(root, "constants");
    read_modes(reader, root, *operation, setup);
    expect_different_ports(reader, setup);
    if (reader.error()) return *reader.error();
    return description;
}

// What a port carries: how many things, and of how many bits at least.
struct Load {
    std::int64_t count;
    int bits;
    std::string what;
};

Load load_of(const Setup& setup, const std::string& role) {
    int codes = 0, codes_b = 0, values = 0;
    for (const Mode& mode : setup.modes) {
        codes = std::max(codes, code_bits(mode.format));
        codes_b = std::max(codes_b, code_bits(mode.format_b));
        values = std::max(values, code_bits(mode.type));
    }
    if (role == "values") return {setup.elements, values, "values"};
    if (role == "codes") return {setup.elements, codes, "codes"};
    if (role == "scales") return {1, 8, "scale"};
    if (role == "a") return {setup.rows * setup.block, codes, "codes"};
    if (role == "b") return {setup.columns * setup.block, codes_b, "codes"};
    if (role == "scales_a") return {setup.rows, 8, "scales"};
    if (role == "scales_b") return {setup.columns, 8, "scales"};
    if (role == "d") return {setup.rows * setup.columns, values, "values"};
    return {1, 1, "bit"};
}

const DesignPort* port_named(const std::vector<DesignPort>& ports, const std::string& name) {
    const auto found = std::ranges::find(ports, name, &DesignPort::name);
    return found == ports.end() ? nullptr : &*found;
}

std::string fault_of_port(const Setup& setup, const Role& role, const DesignPort& port) {
    const bool is_output =
        role.role == "out_valid" || role.role == "in_ready" ||
        std::ranges::find(operation_named(setup.operation)->outputs, role.role) !=
            operation_named(setup.operation)->outputs.end();
    if (is_output != (port.way == DesignPort::Way::out))
        return is_output ? "is an input of the design, and the design has to drive it"
                         : "is an output of the design, and the driver has to drive it";
    const Load load = load_of(setup, role.role);
    const std::int64_t bits = std::int64_t{port.bits} * port.count;
    if (bits < load.count * load.bits)
        return "has " + std::to_string(bits) + " bits, and " + std::to_string(load.count) + " " +
               load.what + " of " + std::to_string(load.bits) + " bits take " +
               std::to_string(load.count * load.bits);
    const bool is_whole = port.count > 1 ? port.count == load.count : port.bits % load.count == 0;
    if (!is_whole)
        return "has " + std::to_string(port.bits) + " bits" +
               (port.count > 1 ? " " + std::to_string(port.count) + " times" : "") +
               ", which are not " + std::to_string(load.count) + " " + load.what +
               " of equal width";
    return "";
}

// The largest number that is put on it.
std::uint64_t largest_on(const Setup& setup, const std::string& port) {
    std::uint64_t largest = 0;
    const auto look = [&](const std::vector<Constant>& constants) {
        for (const Constant& constant : constants)
            if (constant.port == port) largest = std::max(largest, constant.value);
    };
    look(setup.constants);
    for (const Mode& mode : setup.modes) look(mode.constants);
    return largest;
}

std::string fault_of_constant(std::uint64_t largest, const DesignPort& port) {
    if (port.way == DesignPort::Way::out)
        return "is an output of the design, and the driver has to drive it";
    if (port.count > 1) return "is an array, and a constant is one number";
    if (port.bits < 64 && largest >> port.bits != 0)
        return "has " + std::to_string(port.bits) + " bits, and " + std::to_string(largest) +
               " takes more";
    return "";
}

}  // namespace

Expected<Description> read_description(const std::string& path) {
    const auto text = text_of_file(path);
    return text ? parse_description(text.value(), path) : text.error();
}

Expected<Description> parse_description(std::string_view text, const std::string& path) {
    if (const std::size_t stray = stray_toml_character(text); stray != std::string_view::npos)
        return bad_input(path + ":" +
                         std::to_string(1 + std::ranges::count(text.substr(0, stray), '\n')) +
                         ": a character beyond ASCII outside quotes and comments");
    const toml::parse_result parsed = toml::parse(text, path);
    if (!parsed)
        return bad_input(path + ":" + std::to_string(parsed.error().source().begin.line) + ": " +
                         printable(parsed.error().description()));
    return described(parsed.table(), path);
}

// A line is "VL_IN8(&name,7,0);", of an unpacked array "VL_OUTW((&name)[4],1023,0,32);".
std::vector<DesignPort> ports_in(const std::string& header) {
    std::vector<DesignPort> ports;
    std::size_t line_begin = 0;
    while (line_begin < header.size()) {
        const std::size_t line_end = std::min(header.find('\n', line_begin), header.size());
        const std::string line = header.substr(line_begin, line_end - line_begin);
        line_begin = line_end + 1;
        const std::size_t macro = line.find_first_not_of(' ');
        if (macro == std::string::npos) continue;
        const bool is_in =
            line.compare(macro, 5, "VL_IN") == 0 && line.compare(macro, 8, "VL_INOUT") != 0;
        if (!is_in && line.compare(macro, 6, "VL_OUT") != 0) continue;
        const std::size_t name = line.find('&'), comma = line.find(',', name);
        if (name == std::string::npos || comma == std::string::npos) continue;
        const std::size_t name_end = line.find_first_of("),", name);
        DesignPort port{line.substr(name + 1, name_end - name - 1),
                        is_in ? DesignPort::Way::in : DesignPort::Way::out};
        if (const std::size_t open = line.find('[', name); open < comma)
            port.count = std::atoi(line.c_str() + open + 1);
        const int high = std::atoi(line.c_str() + comma + 1);
        const int low = std::atoi(line.c_str() + line.find(',', comma + 1) + 1);
        port.bits = std::abs(high - low) + 1;
        ports.push_back(std::move(port));
    }
    return ports;
}

Status check_ports(const Description& description, const std::vector<DesignPort>& ports) {
    const Setup& setup = description.setup;
    const auto refusal = [&](const std::string& sentence) -> Status {
        return bad_input(description.path + ": " + sentence);
    };
    std::vector<Role> named = setup.ports;
    for (const Constant& constant : setup.constants) named.push_back({"", constant.port});
    for (const Mode& mode : setup.modes)
        for (const Constant& constant : mode.constants) named.push_back({"", constant.port});
    for (const Role& role : named) {
        const std::string key = role.role.empty() ? "constant '" + role.port + "'"
                                                  : "'" + role.role + "' = \"" + role.port + "\"";
        const DesignPort* port = port_named(ports, role.port);
        if (port == nullptr) {
            Names names;
            for (const DesignPort& known : ports) names.push_back(known.name);
            return refusal(key + ": the module " + setup.top + " has no port " + role.port +
                           "; it has " + joined(names, ", "));
        }
        const std::string fault = role.role.empty()
                                      ? fault_of_constant(largest_on(setup, role.port), *port)
                                      : fault_of_port(setup, role, *port);
        if (!fault.empty()) return refusal(key + ": the port " + fault);
    }
    return success();
}

}  // namespace mx::rtl
