// Every algorithm that a device has for one GEMM, in classes of equal bits, and the row of the
// table of models that predicts each class. Used by `mxcheck identify --op gemm --census`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/identify/gemm_subject.hpp"

namespace mx::identify {

struct GemmClass {
    std::vector<std::string> algorithms;    // that gave these bits
    std::vector<std::int64_t> parts_named;  // the numbers after "splitk=" in their names
    std::vector<std::string> rows;          // that predict every output that was looked at
    std::int64_t parts = 1;                 // of K, with which the rows do; 1: it is not split
    std::string nearest;                    // if there is no such row
    std::uint64_t looked_at = 0, predicted = 0;
    std::string witness;     // against the nearest
    std::vector<Code> nans;  // the bits that stood for NaN
};

struct GemmCensus {
    GemmProblem setting;
    GemmShape shape;
    std::vector<GemmClass> classes;     // in the order of the device's list
    std::vector<std::string> refusals;  // algorithms that it named and did not run
    std::uint64_t algorithms = 0;
    std::uint64_t outputs = 0;  // compared, of each algorithm
};

// The largest factor that is asked for, in elements.
inline constexpr std::int64_t census_elements_max = std::int64_t{1} << 24;

// The error is a sentence about the device, or about the shape.
Expected<GemmCensus> take_census(const Client& device, const GemmProblem& setting,
                                 const GemmShape& shape);

}  // namespace mx::identify
