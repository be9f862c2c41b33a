// The operation "gemm" of a call, as the tensors and names that it takes. Used by request.cpp. Must
// not compute.
#pragma once

#include "device/cpu/reader.hpp"

namespace mx::cpu {

std::variant<Work, Refusal> gemm_work(Reader& reader);

}  // namespace mx::cpu
