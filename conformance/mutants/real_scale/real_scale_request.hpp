// What a call asks of a planted bug of real scales, checked and with names turned into choices. No
// bug is planted here. Knows no arithmetic.
#pragma once

#include "conformance/mutants/mutant_request.hpp"

namespace mx::mutants::real_scale {

enum class Library { te_nvfp4, torchao_nvfp4, te_fp8, deepgemm };

// "S" is the number of the whole tensor.
struct Rules {
    Library library{};
    bool has_number = false;
    bool is_stochastic = false;
    bool rotates = false;
    bool picks_four_or_six = false;
    bool is_power_of_two = false;
    bool has_history = false;  // S is the scale, found in earlier tensors
};

struct RealScaleRequest {
    bool quantizes = false;
    Rules rules;
    kit::Blocks blocks;
    Format element = e2m1;
    Tensor values, codes, scales;
    Tensor given, random, kept;  // without data where the call has none

    bool keeps_nan() const {
        return rules.library == Library::torchao_nvfp4 || rules.library == Library::deepgemm;
    }
};

// Refuses what the planted bugs do not quantize. Of axis "both" one side of it.
RealScaleRequest read_real_scale(const kit::Arguments& arguments, kit::Buffers buffers);

}  // namespace mx::mutants::real_scale
