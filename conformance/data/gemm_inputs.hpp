// The inputs of a GEMM case: every code of every tensor, a pure function of the case. The families
// are of two kinds. Those made of random codes tell accumulators apart. Those called exact, and the
// probes, have sums that every accumulator must get right whatever its order, by the conditions
// that reference/gemm/exactness.hpp checks: products are multiples of one quantum, and few enough.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/data/gemm_tensors.hpp"
#include "conformance/data/inputs.hpp"

namespace mx {

struct GemmFamily {
    std::string_view name;
    std::string_view description;
};
const std::vector<GemmFamily>& gemm_data_families();

// As error: a name that is none of a family.
Status check_gemm_data(const Case& c);

// A family, or the tensors of a captured call (captured_call.hpp), one a part by its name and
// row-major, a code of less than a byte in a byte of its own. As error: a name that is none, a file
// that lacks a tensor of the case or has one of another type or size.
Expected<std::shared_ptr<const BlockSource>> open_gemm_data(const Case& c);

// One for each input of tensors_of(c). Only for data that check_gemm_data accepts.
std::vector<CodeTensor> make_gemm_inputs(const Case& c);

// The fraction bits that every accumulator keeps which this case may meet: the least of the rows of
// gemm_models that multiply such elements. Those that end in binary16 count where D is binary16.
int fraction_bits_kept(const GemmProblem& gemm);

}  // namespace mx
