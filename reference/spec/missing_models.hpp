// Machines whose sums no row of gemm_models.hpp says, and what would have to be known.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "reference/spec/gemm_models.hpp"

namespace mx {

struct MissingModel {
    std::string_view machines;  // as their users call them, separated by blanks
    std::string_view missing;   // one sentence
};

inline constexpr std::array missing_models{
    MissingModel{
        "mi350x mi355x gfx950 cdna4",
        "no public source says how its matrix cores round: MMA-Sim@c785138 and "
        "MATLAB-tensor-core's models end with CDNA3, so recorded products of f16, bf16, FP8 and "
        "MXFP, under E8M0 scales too, are wanted."},
    MissingModel{
        "amx-tf32",
        "Intel's text of TMMULTF32PS was not at hand, and Bochs@783b58fd6 does not execute it, so "
        "the order of its sums and what it makes of subnormals are wanted."},
    MissingModel{
        "zvfqldot8f zvfwldot16bf",
        "a group of vector registers is summed, and the text leaves open how many of its products "
        "are aligned together, so the partition of a machine is wanted."},
    MissingModel{
        "zvfbdot32f",
        "the text lets products be rounded or not and summed in any order, as vfredusum does, so "
        "the tree of a machine is wanted."},
};

constexpr const MissingModel* find_missing_model(std::string_view machine) {
    const auto found = std::ranges::find_if(
        missing_models, [&](const MissingModel& one) { return lists(one.machines, machine); });
    return found == missing_models.end() ? nullptr : &*found;
}

}  // namespace mx
