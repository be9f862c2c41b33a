// How does a device sum for which no row is known? From its answers alone, without the table of
// models: a row of its own, or what plain code does. What was found is asked about data on which
// machines that explain as much differ, then about data that nothing was learnt from; what it does
// not predict is learnt from again, until nothing is left or no field explains it.
// Used by `mxcheck identify --op gemm --search`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/identify/gemm_fit.hpp"
#include "conformance/identify/gemm_plain.hpp"
#include "conformance/identify/gemm_subject.hpp"
#include "conformance/identify/gemm_unlearnt.hpp"

namespace mx::identify {

// A stage, and how much of it is done, as far as anybody knows.
using SearchProgress = std::function<void(const std::string& stage, std::uint64_t done)>;

struct GemmSearch {
    GemmProblem setting;
    GemmMachine machine;            // what sums, where that could be a row, and what comes after it
    std::optional<PlainSum> plain;  // what sums, where that is no row
    std::vector<std::string> alike;  // other plain code with the same bits on all that was asked
    std::string why_no_tree;         // the answer against a tree, where one was looked for
    std::vector<GemmFinding> findings;

    // The accumulator: sums without C, with alpha and scales of 1.
    GemmMisses probed, adversarial, fresh;
    // The epilogue: all others.
    GemmMisses probed_epilogue, fresh_epilogue;
    std::vector<std::string> table_rows;  // of the table that predict all sums, to compare with
    std::vector<std::string> refusals;
    std::uint64_t rounds = 0;  // in which something was learnt from what was not predicted
    std::uint64_t calls = 0, outputs = 0;

    bool is_sum_explained() const {
        return probed.count + adversarial.count + fresh.count == 0 && fresh.of != 0;
    }
    bool is_epilogue_asked() const { return fresh_epilogue.of != 0; }
    bool is_epilogue_explained() const {
        return is_epilogue_asked() && probed_epilogue.count + fresh_epilogue.count == 0;
    }
    // Why no row of the table can say what sums; "" where one can.
    std::string no_row_because() const;
};

// The error is a sentence about the device.
Expected<GemmSearch> search_gemm(GemmSubject& subject, const SearchProgress& progress);

// The row that was found, as a model file under that name: a device's own, or "found".
std::string model_file_of(const GemmSearch& found, const std::string& name,
                          const std::string& source);

// What the device is, in a sentence each.
std::string accumulator_text(const GemmSearch& found);
std::string epilogue_text(const GemmSearch& found);

}  // namespace mx::identify
