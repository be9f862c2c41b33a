// Any bytes as a results file: refused with a sentence, or a run whose lines, written anew, read as
// the same run.
#include "conformance/results/record_json.hpp"
#include "conformance/results/results_file.hpp"
#include "fuzz/targets/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    using namespace mx::results;
    const auto run = parse_results(as_text(data, size), "fuzz.jsonl");
    if (!run) {
        require_sentence(run.error());
        return 0;
    }
    std::string text = line_of(run.value().header);
    for (const CaseResult& result : run.value().cases) text += line_of(result);
    if (run.value().complete) text += line_of(run.value().footer);
    const auto again = parse_results(text, "fuzz.jsonl");
    require("what was written can be parsed", again.ok());
    require("the header was not changed", again.value().header == run.value().header);
    require("the cases were not changed", again.value().cases == run.value().cases);
    require("the end was not changed", again.value().complete == run.value().complete);
    return 0;
}
