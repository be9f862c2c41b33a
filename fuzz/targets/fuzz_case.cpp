// Any bytes as the text of a case: refused with a sentence, or a case that prints back to itself.
#include "conformance/case/case.hpp"
#include "fuzz/targets/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    const auto c = mx::parse_case(std::string(as_text(data, size)));
    if (!c) {
        require_sentence(c.error());
        return 0;
    }
    require("what was parsed is valid", mx::check_combination(c.value()).ok());
    const auto again = mx::parse_case(mx::print(c.value()));
    require("what was printed can be parsed", again.ok());
    require("nothing was changed", again.value() == c.value());
    return 0;
}
