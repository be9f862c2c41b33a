// What is wrong with an output of a GEMM, in words. Used by the judges of GEMMs.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/results/record.hpp"
#include "conformance/run/difference.hpp"
#include "reference/exact/decode.hpp"
#include "reference/gemm/problem.hpp"

namespace mx {

inline constexpr const char* any_order =
    "OCP MX v1.0 sections 6.1 and 6.2: the sum is exact in any order, so it has one answer";

struct GemmKind {
    results::MismatchClass mismatch_class;
    std::string direction;
};
GemmKind gemm_kind_of(const ElementFormat& d, const Evidence& evidence,
                      const Difference& difference);

std::string hex(const ElementFormat& format, std::uint32_t bits);
std::string fraction_text(const exact::Value& value);
std::string model_text(const GemmModel& model);
std::string place_text(const gemm::ProblemView& problem, const gemm::OutputPlace& place);

}  // namespace mx
