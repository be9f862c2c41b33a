// A fuzz target with two defects, each of which one input reaches: what replay_test.sh holds the
// replay against. Part of no fuzzer.
#include "fuzz/targets/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = mx::fuzz::as_text(data, size);
    mx::fuzz::require("nothing says violation", text != "violation");
    // The byte behind the input: only a sanitizer sees that it was read.
    if (text == "overrun") return data[size] == 0 ? 0 : -1;
    return 0;
}
