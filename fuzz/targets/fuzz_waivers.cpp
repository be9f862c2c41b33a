// Any bytes as a file of waivers: refused with a sentence, or waivers that can be held against a
// case.
#include "conformance/waivers/waivers.hpp"
#include "fuzz/targets/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    const auto waivers = mx::parse_waivers(as_text(data, size), "fuzz.toml");
    if (!waivers) {
        require_sentence(waivers.error());
        return 0;
    }
    for (const mx::Waiver& waiver : waivers.value())
        mx::fits(waiver, "quantize format=mxfp8-e4m3 dialect=ocp shape=1x32 data=edge.tie");
    return 0;
}
