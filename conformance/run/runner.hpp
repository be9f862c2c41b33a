// The straight line for one case: inputs, expected bits, the device's answer, comparison,
// confirmation, classification, verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "conformance/data/suite.hpp"
#include "conformance/results/record.hpp"
#include "conformance/run/convert_tables.hpp"
#include "device/host/client.hpp"

namespace mx {

struct RunnerOptions {
    // How repro lines name the device: " --device ./mydev.so", "" for the default.
    std::string device_argument;
    // Every failing case is looked at as closely as the first, so that the record of a case does
    // not hang on those before it. Otherwise time is spared after the first hundred.
    bool same_effort = false;
    // So many cases of an operation that the device did not answer in time, one after the other,
    // and no more of that operation are asked: each costs the whole timeout. 0: it is asked for
    // ever.
    std::uint64_t timeouts_max = 0;
    // Told of every case that was judged, in the order in which the device was asked, and may add
    // to its result what explains it.
    std::function<void(const Evidence&, results::CaseResult&)> explain = {};
};

// Questions have the printed case as their name.
class Runner {
public:
    Runner(Client client, Sources& sources, RunnerOptions options)
        : client_(std::move(client)), sources_(sources), options_(std::move(options)) {}

    // Never fails: whatever happens is the case's verdict. Errors are those of the case itself,
    // such as a file that cannot be read.
    Expected<results::CaseResult> run(const PlannedCase& planned);

private:
    Expected<Evidence> gather(const Case& c);
    std::optional<DeviceAnswer> refused_beforehand(const Case& c);
    bool is_given_up(OperationKind operation) const;
    bool changes_with_pads(Question question, const DeviceAnswer& answer);
    results::CaseResult judge(const PlannedCase& planned, Evidence& evidence);
    void probe_depth(const PlannedCase& planned, Evidence& evidence, results::CaseResult& result);
    Expected<results::CaseResult> run_in_slices(const PlannedCase& planned);
    void find_repro_lines(const Evidence& evidence, results::CaseResult& result);
    bool shows_alone(const Case& narrow, const results::Mismatch& mismatch);

    Client client_;
    Sources& sources_;
    RunnerOptions options_;
    ConvertTables tables_;
    std::uint64_t failing_cases_ = 0;
    std::map<OperationKind, std::uint64_t> timeouts_ = {};  // in a row
};

// What the record of a case says before anything is known of it; untested.
results::CaseResult blank_result(const PlannedCase& planned);

// The case of one block of `c`, as a tensor of its own. Not for axis both.
Case single_block(const Case& c, std::int64_t block);

// Of a case of axis both: the tile of kxk that has this block of one of its sides.
struct BlockOfSide {
    BlockAxis axis;
    std::int64_t block = 0;
};
Case single_tile(const Case& c, const BlockOfSide& wanted);

}  // namespace mx
