// Any bytes as numbers that a user typed: refused with a sentence, or codes of the type, which
// typed as bits are the same codes. The first byte chooses the type.
#include <cstdio>

#include "conformance/emulate/parse_value.hpp"
#include "fuzz/targets/text.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    if (size == 0) return 0;
    const auto type = mx::input_types[data[0] % mx::input_types.size()];
    const mx::ElementFormat& format = *mx::find_element_format(type);
    const auto values = mx::emulate::parse_values(format, as_text(data + 1, size - 1));
    if (!values) {
        require_sentence(values.error());
        return 0;
    }
    for (const mx::emulate::ParsedValue& value : values.value()) {
        char bits[24];
        std::snprintf(bits, sizeof bits, "bits:0x%x", static_cast<unsigned>(value.code.bits));
        const auto again = mx::emulate::parse_value(format, bits);
        require("the code is one of the type", again.ok());
        require("and is the same as bits", again.value().code == value.code);
    }
    return 0;
}
