// Which trainings mxcheck train makes: each task in binary32, in each format and dialect by the
// oracle, and on devices, bit for bit beside the oracle's; and the record of each. Prints nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/accuracy/request.hpp"
#include "conformance/accuracy/training_errors.hpp"
#include "conformance/results/attachments.hpp"

namespace mx::accuracy {

struct TrainingRequest {
    std::string format = "mxfp8-e4m3";
    std::vector<std::string> gradients;          // empty: the usual ones beside the format
    std::vector<std::string> dialects{"every"};  // every: one of each scale rule
    std::uint64_t steps = 200;
    std::uint64_t seed = 0;
};

// What stands in the operands of one training.
struct TrainingQuantizers {
    Quantization forward;
    Quantization gradient;
};

// As error: steps beyond the range, names that no table has, and formats that no dialect has
// together.
Expected<std::vector<TrainingQuantizers>> training_quantizers(const TrainingRequest& request);

// What the runs with a device are made of; without one there are none.
struct Machines {
    std::optional<NamedClient> quantizes, multiplies;
    std::string algorithm;
    std::string model;  // of the products, "" where there is none to hold them to

    bool any() const { return quantizes || multiplies; }
    std::string source() const;
    std::string products() const;
};

// One training, and what came of it.
struct Trained {
    std::string task, forward, gradient, dialect;
    std::string rule;              // of the scales
    std::string source, products;  // who quantized, and who multiplied
    TrainingRun run;
    TrainingErrors errors;
    std::string verdict;  // "same bits", "differs", "not compared"; "" without a device
    std::optional<Parting> parting;
    std::string reason;  // why a device did not, "" where it did
};

// First without quantizing, which the others are measured against.
Expected<std::vector<Trained>> train_all(const TrainingRequest& request,
                                         const std::vector<TrainingQuantizers>& quantizers,
                                         const Machines& machines);

results::TrainingCurve record_of(const Trained& trained);

}  // namespace mx::accuracy
