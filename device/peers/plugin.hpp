// What every plug-in of a library begins with. Used by native.hpp, products.hpp and
// native_gemm.hpp.
#pragma once

#include "device/kit/plugin.hpp"

#ifndef MX_PEER_SOURCE
#define MX_PEER_SOURCE ""  // the tree that was named, and its commit
#endif

namespace mx::peers {

using namespace mx::kit;

// What a call of a product says of it, where it is one on the host.
inline const mx_gemm& gemm_of(Call& call) {
    call.expect_host();
    call.expect_strided();
    expect_name("operation", call.operation().name, "gemm");
    return call.gemm();
}

}  // namespace mx::peers
