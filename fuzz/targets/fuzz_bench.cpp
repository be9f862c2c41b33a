// Any bytes as a record of a benchmark: refused with a sentence, or one whose lines, written anew,
// read as the same, and that is neither faster nor slower than itself.
#include "conformance/results/bench_record.hpp"
#include "fuzz/targets/text.hpp"
#include "reports/model/throughput.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    using namespace mx::results;
    const auto bench = parse_bench(as_text(data, size), "fuzz.jsonl");
    if (!bench) {
        require_sentence(bench.error());
        return 0;
    }
    std::string text = line_of(bench.value().header);
    for (const BenchRow& row : bench.value().rows) text += line_of(row);
    if (bench.value().complete) text += last_line_of_bench();
    const auto again = parse_bench(text, "fuzz.jsonl");
    require("what was written can be parsed", again.ok());
    require("the header was not changed", again.value().header == bench.value().header);
    require("the rows were not changed", again.value().rows == bench.value().rows);
    const auto compared = mx::reports::compare(bench.value(), again.value());
    if (!compared) {
        require_sentence(compared.error());
        return 0;
    }
    for (const mx::reports::SpeedRow& row : compared.value().rows)
        require("nothing is faster or slower than itself",
                row.speed == mx::reports::Speed::same ||
                    row.speed == mx::reports::Speed::uncertain || row.first->name().empty());
    return 0;
}
