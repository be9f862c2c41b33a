// Any bytes as a results file: what can be read can be rendered, and every page is text that opens
// anywhere, whatever the record's names hold.
#include "conformance/results/results_file.hpp"
#include "fuzz/targets/text.hpp"
#include "reports/render/escape.hpp"
#include "reports/render/renderers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    const auto run = mx::results::parse_results(as_text(data, size), "fuzz.jsonl");
    if (!run) return 0;
    for (const mx::reports::Renderer& renderer : mx::reports::renderers) {
        const std::string page = renderer.render(run.value());
        require("a page says something", !page.empty());
        require("a page holds no broken text", mx::reports::printable(page) == page);
    }
    return 0;
}
