// The conversions of ROCm mxDataGenerator: satConvertToType and nonSatConvertToType.
#include <cstdint>
using uint = unsigned int;
#include <dataTypeInfo.hpp>
#include <ocp_e2m1_mxfp4.hpp>
#include <ocp_e2m3_mxfp6.hpp>
#include <ocp_e3m2_mxfp6.hpp>
#include <ocp_e4m3_mxfp8.hpp>
#include <ocp_e5m2_mxfp8.hpp>

#include "device/peers/native.hpp"

using namespace mx::peers;

template <typename Type>
static std::uint32_t saturated(float value) {
    return static_cast<std::uint32_t>(DGen::satConvertToType<Type>(value));
}
template <typename Type>
static std::uint32_t overflowed(float value) {
    return static_cast<std::uint32_t>(DGen::nonSatConvertToType<Type>(value));
}

constexpr Cast casts[] = {
    {"e4m3", "nearest_even", "saturate", "ocp", saturated<DGen::ocp_e4m3_mxfp8>},
    {"e5m2", "nearest_even", "saturate", "ocp", saturated<DGen::ocp_e5m2_mxfp8>},
    {"e4m3", "nearest_even", "overflow", "ocp", overflowed<DGen::ocp_e4m3_mxfp8>},
    {"e5m2", "nearest_even", "overflow", "ocp", overflowed<DGen::ocp_e5m2_mxfp8>},
    {"e3m2", "nearest_even", "saturate", "ocp", saturated<DGen::ocp_e3m2_mxfp6>},
    {"e2m3", "nearest_even", "saturate", "ocp", saturated<DGen::ocp_e2m3_mxfp6>},
    {"e2m1", "nearest_even", "saturate", "ocp", saturated<DGen::ocp_e2m1_mxfp4>},
};
constexpr Library library{"mxDataGenerator", "AMD", casts, {}, {}};
MX_PEER(library)
