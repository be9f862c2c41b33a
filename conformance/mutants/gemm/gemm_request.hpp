// What a call of "gemm" asks of a planted bug, checked and with names turned into choices. No bug
// is planted here. Knows no arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conformance/mutants/mutant_request.hpp"
#include "device/kit/groups.hpp"

namespace mx::mutants::gemm {

// FP8 whose code 0x80 is NaN, and whose other codes are all numbers.
inline constexpr Format e4m3fnuz{8, 3, -7, 0x7F, 0x7F};
inline constexpr Format e5m2fnuz{8, 2, -15, 0x7F, 0x7F};
inline constexpr bool is_fnuz(const Format& format) {
    return format == e4m3fnuz || format == e5m2fnuz;
}

inline constexpr bool is_half_format(const Format& format) {
    return format == bf16 || format == f16;
}

enum class Scaling {
    none,
    tensor,  // one binary32
    blocks,  // E8M0 for 32 elements along k
};
enum class Accumulation { promoted, fast };
// Of a D in blocks along its rows.
enum class Output {
    values,
    mx,     // E8M0 for 32 elements
    nvfp4,  // E4M3 for 16 elements, after D was multiplied by one given binary32
};

struct Factor {
    Tensor codes;
    Tensor scales;  // of blocks, or of one binary32
};

struct GemmRequest {
    std::int64_t batches = 1;
    std::int64_t rows = 0, columns = 0, depth = 0;  // of one batch
    kit::RowGroups groups;                          // of rows of A and D: batches, or what is asked
    bool is_grouped = false;                        // then the one batch has the rows of all groups
    std::uint32_t alpha = 0, beta = 0;              // bits of binary32
    Scaling scaling = Scaling::none;
    Accumulation accumulation = Accumulation::promoted;
    Factor a, b;
    Tensor c, bias, d;
    Output output = Output::values;
    Tensor scales_d, scale_d;  // of blocks, and the given one
    Dialect dialect = Dialect::ocp;
    bool reads_c = false, adds_bias = false, has_relu = false, has_gelu = false;
};

inline bool quantizes_d(const GemmRequest& request) {
    return request.output != Output::values;
}
inline std::size_t lanes_of_d(const GemmRequest& request) {
    return request.output == Output::nvfp4 ? 16 : 32;
}

// Refuses what the planted bugs do not multiply.
GemmRequest read_gemm(const kit::Arguments& arguments, kit::Buffers buffers);

}  // namespace mx::mutants::gemm
