// The operation "gemm" of a call, as the tensors and names that it takes. Used by request.cpp. Must
// not compute.
#pragma once

#include "device/cpu/reader.hpp"

namespace mx::cpu {

Work gemm_work(kit::Call& call);

}  // namespace mx::cpu
