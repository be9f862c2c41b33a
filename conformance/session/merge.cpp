// See merge.hpp.
#include "conformance/session/merge.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "conformance/results/record_json.hpp"
#include "conformance/results/results_file.hpp"
#include "conformance/session/campaign.hpp"
#include "conformance/session/demands.hpp"
#include "conformance/session/shard.hpp"
#include "conformance/session/waiving.hpp"
#include "reference/base/text.hpp"

namespace mx::session {
namespace {

using results::CaseResult;
using results::Field;
using results::Run;
using results::RunHeader;

constexpr std::string_view shard_option = "--shard=";
constexpr const char* whole_shard = "0/1";

std::string text_of(const std::vector<Field>& fields) {
    std::string text;
    for (const Field& field : fields)
        text += (text.empty() ? "" : ", ") + field.key + "=" + field.value;
    return text;
}

// The command line as it is without shards.
std::vector<std::string> whole_argv(std::vector<std::string> argv) {
    for (std::string& word : argv)
        if (word.starts_with(shard_option)) word = std::string(shard_option) + whole_shard;
    return argv;
}

// Everything that the shards of one run have in common.
std::vector<Field> common_fields(const RunHeader& header) {
    RunHeader waivers_alone;
    waivers_alone.waivers = header.waivers;
    return {
        {"program version", header.program_version},
        {"commit", header.commit},
        {"state of local changes", header.dirty ? "some" : "none"},
        {"level", header.level},
        {"suites", header.suites},
        {"dialects", header.dialects},
        {"seed", std::to_string(header.seed)},
        {"device", header.device},
        {"device facts", text_of(header.device_facts)},
        {"table hashes", text_of(header.table_hashes)},
        {"waivers", results::line_of(waivers_alone)},
        {"demands", text_of(header.demands)},
        {"command line", joined(whole_argv(header.argv), " ")},
    };
}

Status require_same_run(const ShardRun& first, const ShardRun& other) {
    const std::vector<Field> wanted = common_fields(first.run.header);
    const std::vector<Field> found = common_fields(other.run.header);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] != found[i])
            return bad_input(other.path + " is of another run than " + first.path + ": " +
                             wanted[i].key + " \"" + found[i].value + "\", not \"" +
                             wanted[i].value + "\"");
    return success();
}

Status require_finished(const ShardRun& shard) {
    const Run& run = shard.run;
    const bool is_whole = run.complete && run.cases.size() == run.header.case_count;
    if (is_whole) return success();
    return bad_input(shard.path + ": shard " + run.header.shard + " is not finished, " +
                     std::to_string(run.cases.size()) + " of " +
                     std::to_string(run.header.case_count) +
                     " cases; mxcheck run --resume goes on");
}

using ByPlace = std::map<std::uint64_t, const ShardRun*>;

// The shards by their place. Each once, all of one number.
Expected<ByPlace> by_place(std::span<const ShardRun> shards) {
    ByPlace places;
    for (const ShardRun& each : shards) {
        const auto shard = parse_shard(each.run.header.shard);
        if (!shard) return bad_input(each.path + ": " + shard.error().message);
        const Shard first = parse_shard(shards.front().run.header.shard).value();
        if (shard.value().count != first.count)
            return bad_input(each.path + " is shard " + each.run.header.shard + ", and " +
                             shards.front().path + " is shard " + shards.front().run.header.shard);
        const auto [place, is_new] = places.emplace(shard.value().index, &each);
        if (!is_new)
            return bad_input("shard " + each.run.header.shard +
                             " is there twice: " + place->second->path + " and " + each.path);
    }
    return places;
}

// All shards in order. The count is what a file says: never more places than there are files.
Expected<std::vector<const ShardRun*>> all_in_order(const ByPlace& places, std::uint64_t count) {
    constexpr std::uint64_t named_max = 16;
    const std::uint64_t missing = count - places.size();
    std::string names;
    std::uint64_t named = 0;
    for (std::uint64_t i = 0; i < count && named < std::min(missing, named_max); ++i) {
        if (places.contains(i)) continue;
        names += (names.empty() ? "" : ", ") + text_of(Shard{i, count});
        ++named;
    }
    if (missing > named) names += " and " + std::to_string(missing - named) + " more";
    if (missing > 0) return bad_input("missing: shard " + names);
    std::vector<const ShardRun*> ordered;
    for (const auto& [place, shard] : places) ordered.push_back(shard);
    return ordered;
}

// Case i of the run is case i / n of shard i % n, and there is no gap.
Expected<std::vector<CaseResult>> all_cases(const std::vector<const ShardRun*>& ordered) {
    std::uint64_t total = 0;
    for (const ShardRun* shard : ordered) total += shard->run.cases.size();
    std::vector<CaseResult> cases(total);
    std::vector<bool> seen(total, false);
    for (std::size_t place = 0; place < ordered.size(); ++place)
        for (const CaseResult& result : ordered[place]->run.cases) {
            if (result.index % ordered.size() != place)
                return bad_input(ordered[place]->path + ": case " + std::to_string(result.index) +
                                 " is not of shard " + ordered[place]->run.header.shard);
            if (result.index >= total)
                return bad_input(ordered[place]->path + ": case " + std::to_string(result.index) +
                                 " is beyond the " + std::to_string(total) +
                                 " cases of all shards; one of them is short");
            seen[result.index] = true;
            cases[result.index] = result;
        }
    const auto gap = std::ranges::find(seen, false);
    if (gap != seen.end())
        return bad_input("no shard has case " + std::to_string(gap - seen.begin()));
    return cases;
}

// What the machines are, where they differ with the shards that ran there.
std::vector<Field> common_environment(const std::vector<const ShardRun*>& ordered) {
    std::vector<Field> joined = ordered.front()->run.header.environment;
    for (std::size_t i = 0; i < joined.size(); ++i) {
        std::vector<Field> values;  // a value, and the shards that have it
        for (const ShardRun* shard : ordered) {
            const auto& environment = shard->run.header.environment;
            const std::string value = i < environment.size() ? environment[i].value : "unknown";
            const auto known = std::ranges::find(values, value, &Field::key);
            if (known == values.end())
                values.push_back({value, shard->run.header.shard});
            else
                known->value += ", " + shard->run.header.shard;
        }
        if (values.size() == 1) continue;
        joined[i].value.clear();
        for (const Field& each : values)
            joined[i].value +=
                (joined[i].value.empty() ? "" : "; ") + each.key + " (shard " + each.value + ")";
    }
    return joined;
}

RunHeader whole_header(const std::vector<const ShardRun*>& ordered) {
    RunHeader header = ordered.front()->run.header;
    header.argv = whole_argv(header.argv);
    header.shard = whole_shard;
    header.environment = common_environment(ordered);
    for (const ShardRun* shard : ordered)
        header.started = std::min(header.started, shard->run.header.started);
    return header;
}

}  // namespace

Expected<Run> merged(std::span<const ShardRun> shards, const Say& say, const Baseline* baseline) {
    const auto places = by_place(shards);
    if (!places) return places.error();
    for (const ShardRun& shard : shards) {
        if (const Status same = require_same_run(shards.front(), shard); !same) return same.error();
        if (const Status finished = require_finished(shard); !finished) return finished.error();
    }
    const Shard first = parse_shard(shards.front().run.header.shard).value();
    const auto ordered = all_in_order(places.value(), first.count);
    if (!ordered) return ordered.error();
    auto cases = all_cases(ordered.value());
    if (!cases) return cases.error();

    Run run;
    run.header = whole_header(ordered.value());
    run.header.case_count = cases.value().size();
    run.cases = std::move(cases).value();
    run.footer = results::count_cases(run.cases);
    for (const ShardRun& shard : shards) run.footer.seconds += shard.run.footer.seconds;
    for (const ShardRun* shard : ordered.value())
        if (run.footer.close_fault.empty()) run.footer.close_fault = shard->run.footer.close_fault;
    Sources sources;
    add_cause(run, sources);
    const bool strict = std::ranges::find(run.header.argv, "--strict") != run.header.argv.end();
    Outcome outcome = judge_demands(run, outcome_of(run, true));
    if (baseline != nullptr) outcome = judge_baseline(*baseline, run, outcome);
    run.footer.exit_code = number_of(judge_unneeded(run, strict, outcome, say));
    run.complete = true;
    return run;
}

}  // namespace mx::session
