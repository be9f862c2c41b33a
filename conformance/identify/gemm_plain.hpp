// Sums of plain code that no row of the table is: products rounded to binary32 and added in the
// order of any tree, or one after the other with a correction (Kahan, Neumaier) or in binary64. It
// predicts one output at a time, in the processor's own binary32.
// Used by gemm_search.cpp; asks no device.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/identify/gemm_machine.hpp"

namespace mx::identify {

// Numbers 0 to leaves - 1 are products; each join adds two earlier numbers and is the next one. The
// last join is the sum.
struct SumTree {
    struct Join {
        std::int32_t left, right;
        bool operator==(const Join&) const = default;
    };
    std::int64_t leaves = 0;
    std::vector<Join> joins;
};

// "((0+1)+(2+3))+4", with what follows left away where it is long.
std::string text_of(const SumTree& tree, std::size_t longest = 200);
// Do both add the same numbers together at each join? Left and right do not count.
bool are_same(const SumTree& a, const SumTree& b);

enum class PlainLoop { tree, kahan, neumaier, binary64 };
inline constexpr std::array<std::string_view, 4> plain_loop_names{
    "tree", "Kahan's compensated sum", "Neumaier's compensated sum",
    "a sum in binary64, rounded once to binary32"};

// A rule that makes a tree for every K.
struct TreeRule {
    std::string name;  // "halves": each half by itself, and then their sum
    SumTree (*tree)(std::int64_t leaves, std::int64_t number);
    std::int64_t number = 0;  // lanes, or products of a run that is added in turn
    bool may_be_row = false;  // chains, whole or promoted, are a row, too

    std::string text() const;
};
// Every rule that is tried, the plainest first.
std::vector<TreeRule> tree_rules();

struct PlainSum {
    PlainLoop loop = PlainLoop::tree;
    std::optional<TreeRule> rule = {};  // of trees; none: `tree` is all that is known
    SumTree tree = {};                  // of one K
    bool is_fused = false;              // a product that joins a sum is rounded with it alone
    bool begins_with_zero = true;       // +0 is the first summand: a sum of -0 is +0

    // Is the order known for products of that depth?
    bool knows(std::int64_t depth) const {
        return loop != PlainLoop::tree || rule || tree.leaves == depth;
    }
};
std::string text_of(const PlainSum& sum);

// The bits of binary32 of the sum and what the machine does after it. Any NaN is 0x7fffffff.
Code predicted(const PlainSum& sum, const GemmMachine& machine, const GemmProblem& setting,
               const GemmProbe& probe);

}  // namespace mx::identify
