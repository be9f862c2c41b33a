// CUTLASS's element types on the host: include/cutlass/float8.h, float_subbyte.h, exmy_base.h.
#include <cutlass/float8.h>
#include <cutlass/float_subbyte.h>

#include "device/peers/native.hpp"

using namespace mx::peers;

template <typename Type>
static std::uint32_t code(float value) {
    return Type(value).raw();
}

constexpr Cast casts[] = {
    {"e4m3", "nearest_even", "saturate", "ocp", code<cutlass::float_e4m3_t>},
    {"e5m2", "nearest_even", "saturate", "ocp", code<cutlass::float_e5m2_t>},
    {"e3m2", "nearest_even", "saturate", "ocp", code<cutlass::float_e3m2_t>},
    {"e2m3", "nearest_even", "saturate", "ocp", code<cutlass::float_e2m3_t>},
    {"e2m1", "nearest_even", "saturate", "ocp", code<cutlass::float_e2m1_t>},
    {"e8m0", "", "", "cutlass-host", code<cutlass::float_ue8m0_t>},
};
constexpr Library library{"CUTLASS on the host", "NVIDIA", casts, {}, {}};
MX_PEER(library)
