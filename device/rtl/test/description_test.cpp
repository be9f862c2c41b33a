// Tests of the reader of design.toml: every wrong key, value, file and port is refused by a
// sentence that says what and where. Builds no design.
#include "device/rtl/description.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace mx::rtl {
namespace {

const std::string quantizer = R"(top = "quantizer"
files = ["quantizer.sv"]
include = "headers"
operation = "quantize"
block = 32
elements = 8
order = "low-first"
[parameters]
ELEMENTS = 8
[defines]
FAST = true
[clock]
port = "clk"
[reset]
port = "rst_n"
active = 0
cycles = 2
[ports]
in_valid = "in_valid"
in_ready = "in_ready"
values = "in_values"
out_valid = "out_valid"
out_ready = "out_ready"
codes = "out_codes"
scales = "out_scale"
[constants]
rounding = 0
[[mode]]
format = ["mxfp8-e4m3", "mxfp4-e2m1"]
dialect = "ocp"
input = "f32"
constants = { format = 3 }
)";

const std::string product = R"(top = "tile"
files = "quantizer.sv"
operation = "gemm"
rows = 2
columns = 4
latency = 3
[clock]
port = "clk"
[ports]
a = "a"
b = "b"
scales_a = "scales_a"
scales_b = "scales_b"
d = "d"
[[mode]]
a = "mxfp8-e4m3"
b = "mxfp6-e3m2"
output = "bf16"
)";

const std::string converter = R"(top = "convert"
files = "quantizer.sv"
operation = "convert"
elements = 4
latency = 0
[ports]
values = "in"
codes = "out"
[[mode]]
format = "e4m3"
dialect = "ocp"
input = "bf16"
rounding = "nearest_even"
overflow = "saturate"
)";

// A folder with the sources that the descriptions name.
class RtlDescription : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = std::filesystem::path(testing::TempDir()) / "rtl_description";
        std::filesystem::create_directories(folder / "headers");
        std::ofstream(folder / "quantizer.sv") << "module quantizer; endmodule\n";
    }
    static std::string path() { return (folder / "d.toml").string(); }
    static Expected<Description> parsed(const std::string& text) {
        return parse_description(text, path());
    }
    // Without the folder, which a machine chooses.
    static std::string error_of(const std::string& text) {
        const auto description = parsed(text);
        std::string error = description ? "" : description.error().message;
        for (std::size_t at; (at = error.find(folder.string())) != std::string::npos;)
            error.erase(at, folder.string().size() + 1);
        return error;
    }
    static std::filesystem::path folder;
};
std::filesystem::path RtlDescription::folder;

std::string with(std::string text, const std::string& part, const std::string& instead) {
    const std::size_t place = text.find(part);
    EXPECT_NE(place, std::string::npos) << part;
    return text.replace(place, part.size(), instead);
}

TEST_F(RtlDescription, SaysWhatToBuildAndHowToDriveIt) {
    const auto read = parsed(quantizer);
    ASSERT_TRUE(read) << error_of(quantizer);
    const Description& d = read.value();
    EXPECT_EQ(d.files, std::vector<std::string>{(folder / "quantizer.sv").string()});
    EXPECT_EQ(d.include, std::vector<std::string>{(folder / "headers").string()});
    EXPECT_EQ(d.parameters, (std::vector<std::pair<std::string, std::string>>{{"ELEMENTS", "8"}}));
    EXPECT_EQ(d.defines, (std::vector<std::pair<std::string, std::string>>{{"FAST", ""}}));
    const mx::rtl::Setup& setup = d.setup;
    EXPECT_EQ(setup.top, "quantizer");
    EXPECT_EQ(setup.block, 32);
    EXPECT_EQ(setup.elements, 8);
    EXPECT_EQ(setup.latency, -1);
    EXPECT_EQ(setup.order, Order::low_first);
    EXPECT_EQ(setup.port_of("reset"), "rst_n");
    EXPECT_EQ(setup.port_of("codes"), "out_codes");
    EXPECT_EQ(setup.port_of("last"), "");
    EXPECT_EQ(setup.constants, (std::vector{Constant{"rounding", 0}}));
    ASSERT_EQ(setup.modes.size(), 2u);
    EXPECT_EQ(setup.modes[1].format, "mxfp4-e2m1");
    EXPECT_EQ(setup.modes[1].constants, (std::vector{Constant{"format", 3}}));
}

TEST_F(RtlDescription, ReadsEveryOperation) {
    EXPECT_EQ(error_of(product), "");
    EXPECT_EQ(error_of(converter), "");
    EXPECT_EQ(parsed(product).value().setup.columns, 4);
    EXPECT_EQ(parsed(product).value().setup.modes[0].format_b, "mxfp6-e3m2");
    EXPECT_EQ(parsed(converter).value().setup.elements, 4);
    std::string back = with(converter, "operation = \"convert\"", "operation = \"dequantize\"");
    back = with(back, "codes = \"out\"", "codes = \"out\"\nscales = \"scale\"");
    back = with(back, "rounding = \"nearest_even\"\noverflow = \"saturate\"\n", "");
    back = with(with(back, "input", "output"), "\"e4m3\"", "\"mxint8-symmetric\"");
    EXPECT_EQ(error_of(back), "");
}

struct Slip {
    const std::string& text;
    std::string part, instead, sentence;
};

void expect_slips(const std::vector<Slip>& slips,
                  const std::function<std::string(const std::string&)>& error_of) {
    for (const Slip& slip : slips)
        EXPECT_EQ(error_of(with(slip.text, slip.part, slip.instead)), "d.toml:" + slip.sentence)
            << slip.instead;
}

TEST_F(RtlDescription, EveryKeyMisspelt) {
    expect_slips(
        {
            {quantizer, "top =", "tpo =", "1: unknown key 'tpo'; did you mean 'top'?"},
            {quantizer, "files", "file", "2: unknown key 'file'; did you mean 'files'?"},
            {quantizer, "include", "includes",
             "3: unknown key 'includes'; did you mean 'include'?"},
            {quantizer, "operation", "operations",
             "4: unknown key 'operations'; did you mean 'operation'?"},
            {quantizer, "block", "blok", "5: unknown key 'blok'; did you mean 'block'?"},
            {quantizer, "elements", "element",
             "6: unknown key 'element'; did you mean 'elements'?"},
            {quantizer, "order", "ordr", "7: unknown key 'ordr'; did you mean 'order'?"},
            {quantizer, "[parameters]", "[parameter]",
             "8: unknown key 'parameter'; did you mean 'parameters'?"},
            {quantizer, "[defines]", "[define]",
             "10: unknown key 'define'; did you mean 'defines'?"},
            {quantizer, "[clock]", "[clk]", "12: unknown key 'clk'; did you mean 'clock'?"},
            {quantizer, "[reset]", "[rest]", "14: unknown key 'rest'; did you mean 'reset'?"},
            {quantizer, "[ports]", "[port]", "18: unknown key 'port'; did you mean 'ports'?"},
            {quantizer, "[constants]", "[constant]",
             "26: unknown key 'constant'; did you mean 'constants'?"},
            {quantizer, "[[mode]]", "[[modes]]", "28: unknown key 'modes'; did you mean 'mode'?"},
            {product, "latency", "latencies",
             "6: unknown key 'latencies'; did you mean 'latency'?"},
            {product, "rows", "row", "4: unknown key 'row'; did you mean 'rows'?"},
            {quantizer, "port = \"clk\"", "prot = \"clk\"",
             "13: unknown key 'prot' in [clock]; did you mean 'port'?"},
            {quantizer, "active", "activ",
             "16: unknown key 'activ' in [reset]; did you mean 'active'?"},
            {quantizer, "cycles", "cycle",
             "17: unknown key 'cycle' in [reset]; did you mean 'cycles'?"},
            {quantizer, "in_ready", "in_redy",
             "20: unknown key 'in_redy' in [ports]; did you mean 'in_ready'?"},
            {quantizer,
             "scales =", "scale =", "25: unknown key 'scale' in [ports]; did you mean 'scales'?"},
            {product, "scales_b =", "scale_b =",
             "13: unknown key 'scale_b' in [ports]; did you mean 'scales_b'?"},
            {quantizer, "dialect", "dialet",
             "30: unknown key 'dialet' in [[mode]]; did you mean 'dialect'?"},
            {product, "output =", "input =",
             "18: unknown key 'input' in [[mode]]; known are a, b, output, constants"},
            {quantizer, "block", "\"bl\\nock\"", "5: unknown key 'bl ock'; did you mean 'block'?"},
            {quantizer, "block", "frequency",
             "5: unknown key 'frequency'; known are top, files, include, operation, block, "
             "elements, latency, order, rows, columns, parameters, defines, clock, reset, ports, "
             "constants, mode"},
        },
        error_of);
}

TEST_F(RtlDescription, EveryValueThatCannotBe) {
    expect_slips(
        {
            {quantizer, "\"quantizer\"", "7", "1: 'top' is no text"},
            {quantizer, "\"quantizer\"", "\"\"", "1: 'top' is no text"},
            {quantizer, "\"quantize\"", "\"quantise\"",
             "4: 'operation' is 'quantise'; did you mean 'quantize'?"},
            {quantizer, "block = 32", "block = 48", "5: 'block' is 48, and may be 16, 32 or 64"},
            {quantizer, "block = 32", "block = \"32\"", "5: 'block' is no number from 1 to 4096"},
            {product, "rows = 2", "rows = 2\nblock = 64",
             "5: 'block' is 64, and may be 32 in a product"},
            {quantizer, "elements = 8", "elements = 0",
             "6: 'elements' is no number from 1 to 4096"},
            {quantizer, "elements = 8", "elements = 5",
             "6: 'block' = 32 is no multiple of 'elements' = 5"},
            {product, "rows = 2", "elements = 8",
             "4: 'elements' of a product is the block: a beat is one block of each row"},
            {quantizer, "low-first", "big-endian",
             "7: 'order' is 'big-endian'; known are low-first, high-first"},
            {product, "rows = 2", "rows = 5000", "4: 'rows' is no number from 1 to 4096"},
            {product, "columns = 4", "columns = -1", "5: 'columns' is no number from 1 to 4096"},
            {product, "latency = 3", "latency = 3.5", "6: 'latency' is no number from 0 to 10000"},
            {quantizer, "ELEMENTS = 8", "ELEMENTS = [8]",
             "9: 'ELEMENTS' in [parameters] is neither a number, a text nor true"},
            {quantizer, "FAST = true", "FAST = false",
             "11: 'FAST' in [defines] is neither a number, a text nor true"},
            {quantizer, "port = \"clk\"", "port = true", "13: 'port' is no text"},
            {quantizer, "active = 0", "active = 2", "16: 'active' is no number from 0 to 1"},
            {quantizer, "cycles = 2", "cycles = 0", "17: 'cycles' is no number from 1 to 10000"},
            {quantizer, "\"in_ready\"", "[]", "20: 'in_ready' is no text"},
            {quantizer, "rounding = 0", "rounding = -1",
             "27: 'rounding' is no number from 0 to 4294967295"},
            {quantizer, "\"mxfp4-e2m1\"", "\"mxfp4-e2m2\"",
             "29: 'format' is 'mxfp4-e2m2'; did you mean 'mxfp4-e2m1'?"},
            {quantizer, "\"mxfp4-e2m1\"", "4", "29: 'format' is no text"},
            {quantizer, "\"mxfp8-e4m3\", \"mxfp4-e2m1\"", "",
             "28: 'format' is missing in [[mode]]"},
            {quantizer, "\"ocp\"", "\"ocpp\"", "30: 'dialect' is 'ocpp'; did you mean 'ocp'?"},
            {quantizer, "\"f32\"", "\"f64\"", "31: 'input' is 'f64'; did you mean 'f32'?"},
            {quantizer, "format = 3", "format = \"e4m3\"",
             "32: 'format' is no number from 0 to 4294967295"},
            {product, "\"mxfp6-e3m2\"", "\"e3m2\"",
             "17: 'b' is 'e3m2'; known are mxfp8-e4m3, mxfp8-e5m2, mxfp6-e3m2, mxfp6-e2m3, "
             "mxfp4-e2m1, mxint8, mxint8-symmetric"},
            {converter, "\"e4m3\"", "\"e4m4\"", "10: 'format' is 'e4m4'; did you mean 'e4m3'?"},
            {converter, "nearest_even", "nearest_evn",
             "13: 'rounding' is 'nearest_evn'; did you mean 'nearest_even'?"},
            {converter, "nearest_even", "stochastic",
             "13: 'rounding' is 'stochastic'; known are nearest_even, nearest_away, toward_zero, "
             "toward_positive, toward_negative, away_from_zero, nearest_toward_zero, to_odd"},
            {converter, "saturate", "wrap",
             "14: 'overflow' is 'wrap'; known are saturate, overflow"},
            {quantizer, "[constants]\nrounding = 0", "[[constants]]\nrounding = 0",
             "26: 'constants' is no table; write [constants]"},
            {converter, "latency = 0", "latency = 0\nclock = \"clk\"",
             "6: 'clock' is no table; write [clock]"},
        },
        error_of);
}

TEST_F(RtlDescription, WhatIsMissingOrTooMuch) {
    expect_slips(
        {
            {quantizer, "top = \"quantizer\"\n", "", "1: 'top' is missing"},
            {quantizer, "files = [\"quantizer.sv\"]\n", "", "1: 'files' is missing"},
            {quantizer, "\"quantizer.sv\"", "\"quantiser.sv\"",
             "2: 'files': quantiser.sv does not exist"},
            {quantizer, "\"quantizer.sv\"", "\"headers\"", "2: 'files': headers is a folder"},
            {quantizer, "\"headers\"", "\"quantizer.sv\"",
             "3: 'include': quantizer.sv is no folder"},
            {quantizer, "\"headers\"", "\"none\"", "3: 'include': none does not exist"},
            {quantizer, "operation = \"quantize\"\n", "", "1: 'operation' is missing"},
            {quantizer, "[clock]\nport = \"clk\"\n", "",
             "1: [clock] is missing; a design without a clock has latency = 0"},
            {quantizer, "port = \"clk\"\n", "", "12: 'port' is missing"},
            {quantizer, "codes = \"out_codes\"\n", "", "18: 'codes' is missing in [ports]"},
            {quantizer, "in_valid = \"in_valid\"\n", "",
             "18: 'in_valid' is missing in [ports]; a design without valid has 'latency'"},
            {product, "d = \"d\"\n", "", "9: 'd' is missing in [ports]"},
            {quantizer, "input = \"f32\"\n", "", "28: 'input' is missing in [[mode]]"},
            {converter, "rounding = \"nearest_even\"\n", "",
             "9: 'rounding' is missing in [[mode]]"},
            {quantizer, "[[mode]]", "[mode]",
             "28: there is no [[mode]]; each says one thing that the design can do"},
            {quantizer, "block = 32", "rows = 2", "5: 'rows' belongs to operation = \"gemm\""},
            {converter, "elements = 4", "block = 16",
             "4: 'block' belongs to operations on blocks; convert has 'elements'"},
            {product, "d = \"d\"\n", "d = \"d\"\nout_ready = \"r\"\n",
             "15: 'out_ready': a design with 'latency' takes a beat in each cycle"},
            {quantizer, "\"out_scale\"", "\"out_codes\"",
             "1: the port 'out_codes' stands twice, for 'codes' and for 'scales'"},
            {quantizer, "rounding = 0", "in_values = 0",
             "1: the port 'in_values' stands twice, for 'values' and for a constant"},
            {converter, "overflow = \"saturate\"\n",
             "overflow = \"saturate\"\n[[mode]]\nformat = \"e4m3\"\ndialect = [\"nv\", \"ocp\"]\n"
             "input = \"bf16\"\nrounding = \"nearest_even\"\noverflow = \"saturate\"\n",
             "15: what this [[mode]] does, one before it does already"},
        },
        error_of);
}

TEST_F(RtlDescription, WhatIsNoToml) {
    const std::string broken = error_of(with(quantizer, "block = 32", "block 32"));
    EXPECT_EQ(broken.find("d.toml:5: "), 0u) << broken;
    const std::string twice = error_of(with(quantizer, "elements", "block"));
    EXPECT_EQ(twice.find("d.toml:6: "), 0u) << twice;
    EXPECT_EQ(error_of(with(quantizer, "block = 32", "bl\u00f6ck = 32")),
              "d.toml:5: a character beyond ASCII outside quotes and comments");
    EXPECT_EQ(error_of(""), "d.toml:1: 'top' is missing");
    const auto none = read_description((folder / "none.toml").string());
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("none.toml"), std::string::npos);
}

// As Verilator 5.006 writes it.
constexpr const char* header = R"(
class Vmx_design VL_NOT_FINAL : public VerilatedModel {
    VL_IN8(&clk,0,0);
    VL_IN8(&rst_n,0,0);
    VL_IN8(&in_valid,0,0);
    VL_OUT8(&in_ready,0,0);
    VL_OUT8(&out_valid,0,0);
    VL_IN8(&out_ready,0,0);
    VL_OUT8(&out_scale,7,0);
    VL_IN8(&rounding,1,0);
    VL_IN8(&format,2,0);
    VL_INW(&in_values,255,0,8);
    VL_OUT64(&out_codes,63,0);
    VL_OUT((&words)[4],31,0);
    VL_INOUT8(&pad,0,0);
)";

TEST_F(RtlDescription, PortsAreReadFromTheVerilatedHeader) {
    const std::vector<DesignPort> ports = ports_in(header);
    ASSERT_EQ(ports.size(), 12u);
    EXPECT_EQ(ports[9].name, "in_values");
    EXPECT_EQ(ports[9].bits, 256);
    EXPECT_EQ(ports[9].way, DesignPort::Way::in);
    EXPECT_EQ(ports[11].name, "words");
    EXPECT_EQ(ports[11].count, 4);
    EXPECT_EQ(ports[11].bits, 32);
    EXPECT_EQ(ports[11].way, DesignPort::Way::out);
}

TEST_F(RtlDescription, PortsThatDoNotFit) {
    struct Misfit {
        std::string part, instead, sentence;
    };
    const auto fault_of = [&](const Misfit& misfit) {
        const auto description = parsed(with(quantizer, misfit.part, misfit.instead));
        if (!description) return description.error().message;
        const Status fits = check_ports(description.value(), ports_in(header));
        return fits ? "" : fits.error().message.substr(path().size() + 2);
    };
    EXPECT_EQ(fault_of({"", "", ""}), "");
    const std::string all =
        "; it has clk, rst_n, in_valid, in_ready, out_valid, out_ready, out_scale, rounding, "
        "format, in_values, out_codes, words";
    for (const Misfit& misfit : std::vector<Misfit>{
             {"\"out_codes\"", "\"out_code\"",
              "'codes' = \"out_code\": the module quantizer has no port out_code" + all},
             {"port = \"clk\"", "port = \"clock\"",
              "'clock' = \"clock\": the module quantizer has no port clock" + all},
             {"rounding = 0", "round = 0",
              "constant 'round': the module quantizer has no port round" + all},
             {"\"out_codes\"", "\"in_values\"",
              "1: the port 'in_values' stands twice, for 'values' and for 'codes'"},
             {"\"out_ready\"", "\"words\"",
              "'out_ready' = \"words\": the port is an output of the design, and the driver has to "
              "drive it"},
             {"\"out_scale\"", "\"format\"",
              "1: the port 'format' stands twice, for 'scales' and for a constant"},
             {"elements = 8", "elements = 16",
              "'values' = \"in_values\": the port has 256 bits, and 16 values of 32 bits take 512"},
             {"rounding = 0", "rounding = 4",
              "constant 'rounding': the port has 2 bits, and 4 takes more"},
             {"format = 3", "format = 8",
              "constant 'format': the port has 3 bits, and 8 takes more"},
             {"rounding = 0", "words = 0",
              "constant 'words': the port is an output of the design, and the driver has to drive "
              "it"},
         }) {
        const std::string fault = fault_of(misfit);
        EXPECT_TRUE(fault.ends_with(misfit.sentence)) << fault;
    }
}

}  // namespace
}  // namespace mx::rtl
