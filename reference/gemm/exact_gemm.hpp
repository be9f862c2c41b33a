// Many exact dot products at once: every row of A with every row of B, as fast::dot gives them, at
// the speed of the processor's floating-point units. These are used as integers: no sum is rounded
// (tile_kernel.hpp says why) but where its value alone is asked for (rounded_gemm.hpp). Proved by
// reference/proof/prove_gemm.cpp to give the sums of reference/fast for every kernel that the
// processor has. Knows no files, threads or command lines.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "reference/gemm/window_sum.hpp"

namespace mx::gemm {

// The rows of one factor have one element format, one scale format and one block length.
struct Factors {
    std::span<const ScaledRow> a;
    std::span<const ScaledRow> b;
    std::int64_t depth;
};

// A dot product. Its window counts only where no NaN and no infinity was among the products.
struct ExactSum {
    fast::Kind kind = fast::Kind::finite;
    bool negative_infinity = false;
    WindowSum window;
};

struct Place {
    std::size_t row;     // of A
    std::size_t column;  // of B
};

using Receive = std::function<void(const Place&, const ExactSum&)>;
using ReceiveValue = std::function<void(const Place&, const fast::Unpacked&)>;

struct ResidueLoops;

// One way to sum a tile on this processor.
struct Kernel {
    std::string_view name;
    int rows;
    int columns;
    int parts;  // of a factor; 0 where it multiplies doubles
    int part_bits;
    RunTile run;
    const ResidueLoops* residues = nullptr;  // in the place of `run`, where scales allow it
    const RoundedLoops* rounded = nullptr;   // in the place of `run`, for values alone
};

// All that this processor has, the fastest for what it takes first.
std::span<const Kernel> kernels();

bool takes(const Kernel& kernel, const ScaledRow& a, const ScaledRow& b);

// The first that takes such rows; nullptr where none does, as for elements of binary32, and
// fast::dot is the only way.
const Kernel* find_kernel(const ScaledRow& a, const ScaledRow& b);

// The first that takes such rows and whatever scales they have: one that sums residues does not.
const Kernel& kernel_beside(const Factors& factors);

// The first of rounded sums that takes such rows; nullptr where none does.
const Kernel* find_rounded(const Factors& factors);

// Who sums what a kernel of rounded sums does not: the first that takes such rows and comes after
// it, or the first of all: where none comes after it, and with AMX, whose residues come before.
const Kernel& kernel_after(const Kernel& rounded, const Factors& factors);

// What is asked for: sums with all their digits, or what they round to.
enum class Asked { sums, values };

// The kernel itself, or, where it sums residues and the scales of the rows are so far apart that it
// cannot or would take longer, one of rounded sums, or the one beside it. Where it rounds its sums,
// and sums are asked for or most are too near to what their rounding hangs on, the one after it.
// Reads every code and scale.
const Kernel& kernel_used(const Kernel& kernel, const Factors& factors, Asked asked);

// Every dot product, each once, in no promised order, by kernel_used. The kernel takes the rows.
void for_each_sum(const Kernel& kernel, const Factors& factors, const Receive& receive);

// For every dot product a number that rounds as it does, in every rounding but the stochastic, to
// binary32 and to every type with fewer bits. It is not the sum: digits that are too far below the
// first to matter may be missing. As for_each_sum otherwise.
void for_each_value(const Kernel& kernel, const Factors& factors, const ReceiveValue& receive);

// The same sum in the form that fast::combine takes.
fast::Total total_of(const ExactSum& sum);

// The sum itself: at most 61 digits, of which the last also stands for all that follow.
fast::Unpacked value_of(const ExactSum& sum);

// What is made of a sum: alpha * sum + beta * C, rounded once.
struct Finish {
    ElementFormat type = formats::f32;
    Rounding rounding = Rounding::nearest_even;
    Overflow overflow = Overflow::overflow;
    fast::Affine affine;
};

// alpha 1 and beta 0: the sum is rounded as it is.
bool leaves_sums_alone(const fast::Affine& affine);

// As fast::combine and fast::round_total.
Code finished(const Finish& finish, const ExactSum& sum, const fast::Unpacked& c);

}  // namespace mx::gemm
