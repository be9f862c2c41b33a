// Which part of a run this process does: --shard, or what a launcher says in the environment. Used
// by run and gen.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/session/plan.hpp"

namespace mx::session {

// The value of a variable of the environment; nothing when it is not set, or empty.
using Environment = std::function<std::optional<std::string>(const std::string&)>;
Environment process_environment();

// What --shard says: "2/8", or for "auto" what the environment does. The sources are test runners
// (Bazel, GoogleTest), job arrays (Slurm, Kubernetes) and ranks (Open MPI, PMI; without those
// Slurm's tasks). A source of one part gives way to any other. Two that say different things, and
// parts within parts, are errors, and so is none at all.
Expected<Shard> shard_of(const std::string& option, const Environment& environment);

// A sentence for a run that is not sharded although the environment would shard it; else "".
std::string ignored_shard(const Environment& environment);

// Bazel asks a test that shards to say so by touching a file.
void acknowledge_shard(const Environment& environment);

// "2/8"
std::string text_of(Shard shard);

// Where a part lies in the folder that all parts of a run are given, "out/shard-2-of-8"; a whole
// run lies in the folder itself.
std::string part_folder(const std::string& out, Shard shard);

// The folders of the parts in a folder, in the order of their names; itself where it has none.
std::vector<std::string> part_folders(const std::string& out);

}  // namespace mx::session
