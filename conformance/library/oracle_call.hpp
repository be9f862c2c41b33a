// One call of the device ABI, read into the oracle's own question and views of the tensors, each
// where the question has it. Knows names and shapes; computes nothing.
#pragma once

#include <string>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/library/mx_oracle.h"
#include "device/kit/blocks.hpp"
#include "device/kit/call.hpp"

namespace mx::library {

// A call along one axis. The case has no data of a family: its inputs are the caller's.
struct OracleCall {
    Case question;
    kit::Blocks blocks;                         // of quantize and dequantize
    std::vector<kit::Strided> inputs, outputs;  // in the order of the device ABI

    // Of an operation that is no gemm.
    const kit::Strided& input(Part part) const;
};

// Every tensor of the call is strided. One question; of axis "both" one for the rows and one for
// the columns. Refuses what the oracle does not know. Options may be NULL.
std::vector<OracleCall> read_calls(const kit::Arguments& call, kit::Buffers buffers,
                                   const mx_oracle_options* options);

}  // namespace mx::library
