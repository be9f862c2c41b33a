// Any bytes as the results of shards, one after another and parted by an empty line: refused with a
// sentence, or one run that is whole.
#include "conformance/results/results_file.hpp"
#include "conformance/session/merge.hpp"
#include "fuzz/targets/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    std::string_view text = as_text(data, size);
    std::vector<mx::session::ShardRun> shards;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find("\n\n"), text.size());
        const std::string_view part = text.substr(0, end + (end < text.size() ? 1 : 0));
        text.remove_prefix(std::min(end + 2, text.size()));
        auto run = mx::results::parse_results(part, "fuzz.jsonl");
        if (!run) return require_sentence(run.error()), 0;
        shards.push_back({std::to_string(shards.size()) + ".jsonl", std::move(run).value()});
    }
    if (shards.empty()) return 0;
    const auto whole = mx::session::merged(shards);
    if (!whole) return require_sentence(whole.error()), 0;
    require("the run is complete", whole.value().complete);
    std::size_t cases = 0;
    for (const mx::session::ShardRun& shard : shards) cases += shard.run.cases.size();
    require("every case is in it", whole.value().cases.size() == cases);
    return 0;
}
