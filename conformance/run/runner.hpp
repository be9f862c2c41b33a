// The straight line for one case: inputs, expected bits, the device's answer, comparison,
// confirmation, classification, verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "conformance/data/suite.hpp"
#include "conformance/results/record.hpp"
#include "conformance/run/convert_tables.hpp"
#include "device/host/isolated_device.hpp"

namespace mx {

// What a device that does not support a question says to it, by its shapes alone; nothing if it
// does.
using Refuser = std::function<std::optional<DeviceAnswer>(const Question&)>;

struct RunnerOptions {
    // How repro lines name the device: " --device ./mydev.so", "" for the default.
    std::string device_argument;
    Refuser refuses = {};  // asked before large inputs are made; may be empty
    // Every failing case is looked at as closely as the first, so that the record of a case does
    // not hang on those before it. Otherwise time is spared after the first hundred.
    bool same_effort = false;
};

// What answers the question of a case: a device, or a file of recorded answers.
using Asker = std::function<DeviceAnswer(const Case&, const Question&)>;

class Runner {
public:
    Runner(Asker ask, Sources& sources, RunnerOptions options)
        : ask_(std::move(ask)), sources_(sources), options_(std::move(options)) {}
    Runner(IsolatedDevice& device, Sources& sources, RunnerOptions options)
        : Runner([&device](const Case&, const Question& question) { return device.ask(question); },
                 sources, std::move(options)) {}

    // Never fails: whatever happens is the case's verdict. Errors are those of the case itself,
    // such as a file that cannot be read.
    Expected<results::CaseResult> run(const PlannedCase& planned);

private:
    Expected<Evidence> gather(const Case& c);
    std::optional<DeviceAnswer> refused_beforehand(const Case& c);
    bool changes_with_pads(const Case& c, Question question, const DeviceAnswer& answer);
    results::CaseResult judge(const PlannedCase& planned, Evidence& evidence);
    void judge_bits(Evidence& evidence, results::CaseResult& result);
    void find_repro_lines(const Evidence& evidence, results::CaseResult& result);
    bool shows_alone(const Case& narrow, const results::Mismatch& mismatch);

    Asker ask_;
    Sources& sources_;
    RunnerOptions options_;
    ConvertTables tables_;
    std::uint64_t failing_cases_ = 0;
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
