// See scaling.hpp.
#include "device/cublaslt/scaling.hpp"

#include <array>

#include "device/cublaslt/tensors.hpp"

namespace mx::cublaslt {
namespace {

// cuBLAS 13.1 documents the modes, their layouts and capabilities in "Narrow precision data types
// usage" and cublasLtMatmulMatrixScale_t in cublasLt.h.
constexpr std::array scalings{
    Scaling{"tensor",
            CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F,
            "f32",
            {whole, whole},
            ScaleOrder::outer_fastest,
            {89, latest}},
    Scaling{"row",
            CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F,
            "f32",
            {1, whole},
            ScaleOrder::outer_fastest,
            {90, 90}},
    Scaling{"1x128",
            CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F,
            "f32",
            {1, 128},
            ScaleOrder::outer_fastest,
            {90, 90}},
    Scaling{"128x128",
            CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F,
            "f32",
            {128, 128},
            ScaleOrder::inner_fastest,
            {90, 90}},
    Scaling{"1x32",
            CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0,
            "e8m0",
            {1, 32},
            ScaleOrder::tiles,
            {100, latest}},
    Scaling{"1x16",
            CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3,
            "ue4m3",
            {1, 16},
            ScaleOrder::tiles,
            {100, latest}},
};

std::int64_t blocks_in(std::int64_t length, std::int64_t block) {
    if (block == whole) return 1;
    return length / block + (length % block != 0 ? 1 : 0);
}

Extents strides_of(ScaleOrder order, Extents grid) {
    if (order == ScaleOrder::outer_fastest) return {1, grid.rows};
    return {rounded_up(grid.columns, 4), 1};
}

std::string in_double_quotes(const Scaling& scaling) {
    return "scaling \"" + std::string(scaling.name) + "\"";
}

}  // namespace

std::string capability_text(int capability) {
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

std::string text_of(Capabilities capabilities) {
    const std::string first = capability_text(capabilities.first);
    if (capabilities.last == capabilities.first) return first + " alone";
    if (capabilities.last == latest) return first + " or later";
    return first + " to " + capability_text(capabilities.last);
}

const Scaling* find_scaling(std::string_view name) {
    for (const Scaling& scaling : scalings)
        if (scaling.name == name) return &scaling;
    return nullptr;
}

Extents grid_of(const Scaling& scaling, Extents elements) {
    return {blocks_in(elements.rows, scaling.block.rows),
            blocks_in(elements.columns, scaling.block.columns)};
}

std::optional<std::string> misplaced(const Scaling& scaling, const mx_tensor& scales) {
    if (scaling.order == ScaleOrder::tiles) {
        if (text_of(scales.layout) == "128x4") return std::nullopt;
        return "cuBLASLt reads " + in_double_quotes(scaling) + " in layout \"128x4\", not " +
               in_double_quotes(scales.layout);
    }
    if (text_of(scales.layout) != "strided")
        return "cuBLASLt reads " + in_double_quotes(scaling) + " in layout \"strided\", not " +
               in_double_quotes(scales.layout);
    const Extents wanted = strides_of(scaling.order, {scales.rows, scales.columns});
    // The stride of a dimension with one entry leads nowhere.
    const bool rows_fit = scales.rows <= 1 || scales.row_stride == wanted.rows;
    const bool columns_fit = scales.columns <= 1 || scales.column_stride == wanted.columns;
    if (rows_fit && columns_fit) return std::nullopt;
    return "cuBLASLt reads " + shape_text(scales) + " scales of " + in_double_quotes(scaling) +
           " with a row stride of " + std::to_string(wanted.rows) + " and a column stride of " +
           std::to_string(wanted.columns) + ", not " + std::to_string(scales.row_stride) + " and " +
           std::to_string(scales.column_stride);
}

std::optional<std::string> misplaced_batches(const Scaling& scaling, Extents one) {
    if (scaling.block.rows == whole) return std::nullopt;
    if (scaling.order == ScaleOrder::outer_fastest) {
        if (grid_of(scaling, one).columns <= 1) return std::nullopt;
        return in_double_quotes(scaling) +
               " of several batches: the scales of a batch do not lie together";
    }
    if (one.rows % 128 == 0) return std::nullopt;
    return in_double_quotes(scaling) + " of several batches of " + std::to_string(one.rows) +
           " rows: a batch's scales lie together only where its rows are a multiple of 128";
}

}  // namespace mx::cublaslt
