// The tensors of a GEMM as the device ABI has them, its operation, and what comes after its sum.
// Used by the cases of operation gemm, by the sweeps on a GPU and by identification; fills no
// tensor.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/data/gemm_codes.hpp"
#include "device/host/operation.hpp"
#include "reference/problem/problem.hpp"
#include "reference/spec/gemm_epilogue.hpp"

namespace mx {

enum class GemmPart : std::uint32_t {
    a,
    scales_a,
    b,
    scales_b,
    c,
    bias,
    scale_out,
    d,
    scales_d,
    row_offsets,  // of a grouped product; the last input
};

constexpr bool is_output(GemmPart part) {
    return part == GemmPart::d || part == GemmPart::scales_d;
}
// As files of tensors call it.
constexpr std::string_view name_of(GemmPart part) {
    constexpr std::array<std::string_view, 10> names{
        "a", "a_scales", "b", "b_scales", "c", "bias", "scale_out", "d", "d_scales", "row_offsets"};
    return names[static_cast<std::size_t>(part)];
}
enum class GemmContent { elements, numbers };

struct GemmTensor {
    GemmPart part;
    GemmContent content;
    ElementFormat type;
    TensorSpec spec;

    std::int64_t bytes() const;
};

// C and the bias are to have weight beside sums of any size.
std::uint32_t binades_of(GemmPart part);

// A GEMM alone, its tensors stored plainly and D without blocks.
Problem problem_of(const GemmProblem& gemm);

// In the order of the device ABI; D last, and its scales. Scales in tiles are given for rows that
// follow one another: where groups of them begin new tiles, conformance/run says.
std::vector<GemmTensor> tensors_of(const Problem& p);

// The one place where a typed GEMM becomes the words of the device ABI.
Operation operation_of(const Problem& p);

// How the sum becomes an output. Of `parts` along K. What becomes blocks is binary32 first.
GemmEpilogue epilogue_of(const GemmProblem& gemm, std::int64_t parts);

// The number after "splitk=" in the name of an algorithm of cuBLASLt; 1 where there is none.
std::int64_t parts_of(const std::string& algorithm);
bool declares_parts(const std::string& algorithm);

// Of K, in each part of a split along it: whole tiles of 128 bytes. 0 where K is not split.
std::int64_t part_length(const GemmProblem& gemm, std::int64_t parts);

}  // namespace mx
