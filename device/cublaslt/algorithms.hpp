// Names of cuBLASLt's algorithms: everything that configures one, as text. The same configuration
// has the same name whatever the problem and its place in a list. Used by matmul.cpp.
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mx::cublaslt {

struct AlgorithmAttribute {
    std::string_view name;
    cublasLtMatmulAlgoConfigAttributes_t id;
    std::size_t bytes;
};
inline constexpr std::array algorithm_attributes{
    AlgorithmAttribute{"id", CUBLASLT_ALGO_CONFIG_ID, 4},
    AlgorithmAttribute{"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4},
    AlgorithmAttribute{"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4},
    AlgorithmAttribute{"splitk", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4},
    AlgorithmAttribute{"reduction", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4},
    AlgorithmAttribute{"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4},
    AlgorithmAttribute{"custom", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4},
    AlgorithmAttribute{"inner", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2},
    AlgorithmAttribute{"cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2},
};

// The value of each attribute, in their order.
using Configuration = std::array<std::uint32_t, algorithm_attributes.size()>;

// "id=66,tile=20,stages=36,splitk=1,reduction=0,swizzle=0,custom=7,inner=0,cluster=2"
std::string name_of(const Configuration& configuration);

Configuration configuration_of(const cublasLtMatmulAlgo_t& algorithm);

}  // namespace mx::cublaslt
