// Any bytes as lines of a suite: each refused with a sentence, or printed back to itself. Lines
// that are sound are not expanded, for one line may stand for millions of cases.
#include "conformance/data/suite.hpp"
#include "fuzz/targets/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    std::string_view text = as_text(data, size);
    while (!text.empty()) {
        const std::string line(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto parsed = mx::parse_suite_line(line);
        if (!parsed) {
            require_sentence(parsed.error());
            continue;
        }
        const auto again = mx::parse_suite_line(mx::print(parsed.value()));
        require("what was printed can be parsed", again.ok());
        require("nothing was changed", again.value() == parsed.value());
    }
    return 0;
}
