// Every whole-domain sweep on a GPU as one kind of thing: a name, a domain, and the question how
// often the GPU's answers are not the right ones. Used by `mxcheck prove --gpu`, which prints them,
// and by `mxcheck run`, which records them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/sweep/gpu_runs.hpp"
#include "conformance/sweep/tanh_sweep.hpp"

namespace mx::sweep {

// Whose answers are asked for.
enum class Subject {
    device,  // the GPU's instructions, and the arithmetic of device/cuda compiled into mxcheck
    plugin,  // a device, through the ABI
    oracle,  // the fast oracle, where a wrong answer is our own fault
};
enum class Output { elements, scales };

// Bits as text, "0x3f800000". `scale` is "" where the sweep has none.
struct SweepPlace {
    std::string input, scale, actual, expected;
};

struct SweepAnswer {
    std::uint64_t inputs = 0;  // asked
    std::uint64_t differing = 0;
    std::vector<SweepPlace> first;  // a few of those that differ
    std::string digest;             // of what the GPU answered; "" where no list of runs exists
    std::string wrong_digest;       // why the right answers are not to be trusted
    double seconds = 0;             // on the GPU
    bool complete = true;           // not interrupted
    int refused = 0;                // problems that were not compared: the device refused them,
    std::string refusal;            // as it said last
    std::string note;               // what was asked, for the record; "" where the name says it
};

// Told how many parts of a sweep are done, of how many; answers whether to go on.
struct Parts {
    int done;
    int all;
};
using Watch = std::function<bool(Parts)>;

struct GpuSweep {
    std::string name;
    std::string domain;  // "all 2^32 codes of f32"
    Subject subject;
    Output output;
    int first_architecture;  // that has it
    std::function<Expected<SweepAnswer>(const Watch&)> ask;
    std::string device = "";  // what --device names it by, where the subject is a plug-in
};

std::vector<GpuSweep> gpu_sweeps();

// Asks the exact oracle about the input that differs: where it sides with the GPU, the oracle
// compiled for the GPU is wrong.
SweepAnswer answer_of(const TanhDifferences& differing);

}  // namespace mx::sweep
