// Data that nothing was learnt from, in shapes of all sizes: what was found must predict it bit
// for bit. Where it does not, a second row may predict the rest: the device is then two machines.
// Used by gemm_identify.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/identify/gemm_fit.hpp"
#include "conformance/identify/gemm_probes.hpp"
#include "conformance/identify/gemm_subject.hpp"

namespace mx::identify {

// Outputs that something did not predict, and the first of them.
struct GemmMisses {
    std::uint64_t count = 0;
    std::uint64_t of = 0;
    std::string witness;
};

// One GEMM: row i of A and what goes with it in left[i], row j of B in right[j].
struct UnlearntCall {
    GemmShape shape;
    GemmProbes left, right;
    std::vector<Code> outputs;  // row-major

    // The outputs that are looked at: all, or some of every row where there are many.
    std::vector<std::size_t> places() const;
    GemmAnswer at(std::size_t place) const;
};
using UnlearntCalls = std::vector<UnlearntCall>;

// Does K leave something over of whole tiles of 8 and more, so that it shows where that is summed?
constexpr bool has_residue(std::int64_t depth) {
    return depth % 8 != 0;
}

struct UnlearntRequest {
    bool takes_everything = false;  // scales, alpha and C, too
    bool scales_sums = false;       // scales of blocks without alpha and C, too
    // A K that is no whole number of steps or tiles, too. That a device refuses it, or takes
    // another kernel for it, is no refusal.
    bool asks_residue = false;
    std::uint64_t seed = 0;  // every one gives other data
};

// What else the device may refuse is left out, and a sentence about it added to the refusals.
// As error: it refuses the plainest, or fails.
Expected<UnlearntCalls> ask_unlearnt(GemmSubject& subject, const UnlearntRequest& request,
                                     std::vector<std::string>& refusals);

// The answers, and some of those of a K with a residue, which no probe has.
GemmAnswers with_residues(GemmAnswers answers, const UnlearntCalls& calls);

// The engine that predicts: that of reference/fast knows the rows alone.
enum class Engine { machine, row };
Code predicted_by(Engine engine, const GemmMachine& machine, const GemmProblem& setting,
                  const GemmProbe& probe);

using Predict = std::function<Code(const GemmProbe& probe)>;
GemmMisses misses_of(const Predict& predict, const GemmProblem& setting,
                     const UnlearntCalls& calls);
GemmMisses misses_of(Engine engine, const GemmMachine& machine, const GemmProblem& setting,
                     const UnlearntCalls& calls);

// Two machines in one device.
struct GemmMixture {
    std::string row;            // that predicts what the nearest row does not; "": there is none
    std::uint64_t answers = 0;  // all of them
    std::vector<std::string> shapes;  // in which they were
};
GemmMixture mixture_of(const GemmMachine& nearest, const GemmProblem& setting,
                       const GemmAnswers& probed, const UnlearntCalls& calls);

}  // namespace mx::identify
