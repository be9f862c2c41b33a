// Any bytes as the description of a hardware design: refused with a sentence of one line, or a
// description that ports can be held against.
#include "device/rtl/description.hpp"
#include "fuzz/targets/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    const auto description = mx::rtl::parse_description(as_text(data, size), "fuzz.toml");
    if (!description) {
        require_sentence(description.error());
        require("it is one line", description.error().message.find('\n') == std::string::npos);
        return 0;
    }
    const mx::rtl::Setup& setup = description.value().setup;
    require("there is something to ask for", !setup.modes.empty());
    require("a block is whole beats",
            setup.operation == "convert" || setup.block % setup.elements == 0);
    const auto ports =
        mx::rtl::ports_in("    VL_IN8(&clk,0,0);\n    VL_OUTW((&codes)[4],1023,0,32);\n");
    const mx::Status fits = mx::rtl::check_ports(description.value(), ports);
    if (!fits) require_sentence(fits.error());
    return 0;
}
