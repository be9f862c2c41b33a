// See generate.hpp.
#include "device/rtl/generate.hpp"

namespace mx::rtl {
namespace {

std::string quoted(const std::string& text) {
    std::string made = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') made += '\\';
        made += letter == '\n' ? ' ' : letter;
    }
    return made + "\"";
}

std::string listed(const std::vector<Constant>& constants) {
    std::string made = "{";
    for (const Constant& constant : constants)
        made += "{" + quoted(constant.port) + ", " + std::to_string(constant.value) + "u}, ";
    return made + "}";
}

std::string setup_text(const Setup& setup) {
    std::string ports, modes;
    for (const Role& role : setup.ports)
        ports += "{" + quoted(role.role) + ", " + quoted(role.port) + "}, ";
    for (const Mode& mode : setup.modes) {
        modes += "\n            {";
        for (const std::string* name : {&mode.format, &mode.format_b, &mode.dialect, &mode.type,
                                        &mode.rounding, &mode.overflow})
            modes += quoted(*name) + ", ";
        modes += listed(mode.constants) + "},";
    }
    const auto number = [](const char* key, std::int64_t value) {
        return std::string("        .") + key + " = " + std::to_string(value) + ",\n";
    };
    return "    static const Setup setup{\n        .file = " + quoted(setup.file) +
           ",\n        .top = " + quoted(setup.top) +
           ",\n        .operation = " + quoted(setup.operation) + ",\n" +
           number("block", setup.block) + number("elements", setup.elements) +
           number("rows", setup.rows) + number("columns", setup.columns) +
           number("latency", setup.latency) + "        .order = Order::" +
           (setup.order == Order::low_first ? "low_first" : "high_first") + ",\n" +
           number("reset_active", setup.reset_active) + number("reset_cycles", setup.reset_cycles) +
           "        .ports = {" + ports + "},\n        .constants = " + listed(setup.constants) +
           ",\n        .modes = {" + modes + "},\n    };\n    return setup;\n";
}

constexpr const char* preamble = R"(
using mx::rtl::Port;

template <typename T>
    requires std::is_integral_v<T>
Port port_of(T& value, int bits) {
    return {reinterpret_cast<unsigned char*>(&value), bits, 1, sizeof(T)};
}
template <std::size_t words>
Port port_of(VlWide<words>& value, int bits) {
    return {reinterpret_cast<unsigned char*>(value.data()), bits, 1, sizeof(value)};
}
template <typename T, std::size_t count>
Port array_of(T (&values)[count], int bits) {
    return {port_of(values[0], bits).data, bits, static_cast<int>(count), sizeof(T)};
}
template <typename T, std::size_t count>
Port array_of(VlUnpacked<T, count>& values, int bits) {
    return {port_of(values[0], bits).data, bits, static_cast<int>(count), sizeof(T)};
}

struct Context {
    VerilatedContext verilated;
    explicit Context(std::uint32_t seed) {
        enter();
        verilated.randReset(static_cast<int>(std::min(seed, 2u)));
        verilated.randSeed(static_cast<int>(seed));
#if defined(MX_TRACE_FILE)
        verilated.traceEverOn(true);
#endif
    }
    // What is random is drawn from the context of the thread, whichever model asks.
    void enter() { Verilated::threadContextp(&verilated); }
};

class Design : public mx::rtl::Model {
public:
    explicit Design(std::uint32_t seed) : context_(seed), top_(&context_.verilated, "design") {}
    ~Design() override {
        context_.enter();
#if defined(MX_TRACE_FILE)
        if (is_traced_) file_.close();
#endif
        top_.final();
    }
    void eval() override {
        context_.enter();
        top_.eval();
    }
#if defined(MX_TRACE_FILE)
    bool open_trace(const std::string& path) override {
        constexpr int all_levels = 99;
        top_.trace(&file_, all_levels);
        file_.open(path.c_str());
        is_traced_ = file_.isOpen();
        return is_traced_;
    }
    void trace(std::uint64_t time) override { file_.dump(time); }
    void flush_trace() override { file_.flush(); }
#else
    bool open_trace(const std::string&) override { return false; }
    void trace(std::uint64_t) override {}
    void flush_trace() override {}
#endif
    Port port(std::string_view name) override {
)";

constexpr const char* middle = R"(        return {};
    }

private:
    Context context_;
    Vmx_design top_;
#if defined(MX_TRACE_FILE)
    MX_TRACE_FILE file_;
    bool is_traced_ = false;
#endif
};

}  // namespace

namespace mx::rtl {

std::unique_ptr<Model> new_model(std::uint32_t seed) { return std::make_unique<Design>(seed); }

std::uint32_t known_good_answer(std::uint32_t word) {
    static Context context(1);
    static Vmx_known_good known_good(&context.verilated, "known_good");
    context.enter();
    known_good.word = word;
    known_good.eval();
    return known_good.answer;
}

const Setup& the_setup() {
)";

std::string definition(const char* name, const std::string& value) {
    return std::string("#define ") + name + " " + value + "\n";
}

}  // namespace

std::string plugin_source(const Setup& setup, const std::vector<DesignPort>& ports, Trace trace,
                          const PluginFacts& facts) {
    std::string source = "// Made by mxcheck from " + setup.file + ".\n";
    if (trace == Trace::vcd)
        source += "#include \"verilated_vcd_c.h\"\n" + definition("MX_TRACE_FILE", "VerilatedVcdC");
    if (trace == Trace::fst)
        source += "#include \"verilated_fst_c.h\"\n" + definition("MX_TRACE_FILE", "VerilatedFstC");
    source +=
        "#include <algorithm>\n#include <type_traits>\n\n#include \"Vmx_design.h\"\n#include "
        "\"Vmx_known_good.h\"\n"
        "#include \"device/rtl/driver/model.hpp\"\n#include \"verilated.h\"\n\nnamespace {\n";
    source += preamble;
    for (const DesignPort& port : ports)
        source += "        if (name == " + quoted(port.name) + ") return " +
                  (port.count > 1 ? "array_of" : "port_of") + "(top_." + port.name + ", " +
                  std::to_string(port.bits) + ");\n";
    return source + middle + setup_text(setup) + "}\n\nBuildFacts build_facts() {\n    return {" +
           quoted(facts.version) + ", " + quoted(facts.simulator) + ", " + quoted(facts.notes) +
           "};\n}\n\n}  // namespace mx::rtl\n";
}

}  // namespace mx::rtl
