// Joins the shards of one run into the run that was never sharded: the same header, the same cases
// in the same order, the same footer. Used by the command merge; knows no file.
#pragma once

#include <span>
#include <string>

#include "conformance/results/record.hpp"
#include "conformance/session/baseline.hpp"
#include "conformance/session/listener.hpp"
#include "reference/base/status.hpp"

namespace mx::session {

struct ShardRun {
    std::string path;  // for sentences
    results::Run run;
};

// An error names what is missing, unfinished, there twice, or of another run: only all shards of
// one run can be merged. With shards that were run with --reproducible the result holds the very
// bytes of an unsharded run with it; otherwise the start is the earliest, and the seconds are the
// sum. Of waivers that no shard needed `say` is told. A baseline is held against the whole.
Expected<results::Run> merged(
    std::span<const ShardRun> shards, const Say& say = [](const std::string&) {},
    const Baseline* baseline = nullptr);

}  // namespace mx::session
