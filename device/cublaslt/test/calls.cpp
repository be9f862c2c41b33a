// See calls.hpp.
#include "device/cublaslt/test/calls.hpp"

#include <string_view>

namespace mx::cublaslt::test {

mx_tensor tensor(const char* type, Extents shape, std::int64_t padding) {
    if (std::string_view(type) == "e2m1")
        return {sizeof(mx_tensor), nullptr,       type, "host", "packed-low",
                shape.rows,        shape.columns, 0,    0};
    return {sizeof(mx_tensor),       nullptr, type, "host", "strided", shape.rows, shape.columns,
            shape.columns + padding, 1};
}

mx_tensor scale_tensor(const char* scaling, Extents elements) {
    const Scaling& row = *find_scaling(scaling);
    const Extents grid = grid_of(row, elements);
    mx_tensor scales = tensor(row.type.data(), grid);
    switch (row.order) {
        case ScaleOrder::outer_fastest:
            scales.row_stride = 1;
            scales.column_stride = grid.rows;
            break;
        case ScaleOrder::inner_fastest:
            scales.row_stride = rounded_up(grid.columns, 4);
            break;
        case ScaleOrder::tiles:
            scales.layout = "128x4";
            scales.row_stride = scales.column_stride = 0;
            break;
    }
    return scales;
}

bool has_c(const Asked& asked) {
    return asked.beta << 1 != 0;
}
bool has_bias(const Asked& asked) {
    return asked.epilogue != nullptr && std::string_view(asked.epilogue).starts_with("bias");
}

GemmCall call_of(const Asked& asked) {
    GemmCall made{};
    made.gemm = {sizeof(mx_gemm),
                 asked.batches,
                 asked.alpha,
                 asked.beta,
                 asked.scaling_a,
                 asked.scaling_b,
                 asked.scaling_out,
                 asked.epilogue,
                 asked.accumulation,
                 asked.algorithm,
                 0};
    made.operation.struct_size = sizeof(mx_operation);
    made.operation.name = "gemm";
    const Extents a{asked.batches * asked.m, asked.k};
    const Extents b{asked.batches * asked.n, asked.k};
    const Extents d{asked.batches * asked.m, asked.n};
    made.inputs.push_back(tensor(asked.type_a, a, asked.padding));
    if (asked.scaling_a != nullptr) made.inputs.push_back(scale_tensor(asked.scaling_a, a));
    made.inputs.push_back(tensor(asked.type_b, b, asked.padding));
    if (asked.scaling_b != nullptr) made.inputs.push_back(scale_tensor(asked.scaling_b, b));
    if (has_c(asked)) made.inputs.push_back(tensor(asked.type_c, d, asked.padding));
    if (has_bias(asked)) made.inputs.push_back(tensor(asked.type_bias, {1, asked.n}));
    made.outputs.push_back(tensor(asked.type_d, d, asked.padding));
    const std::string_view out = asked.scaling_out == nullptr ? "" : asked.scaling_out;
    if (out == "tensor" || out == "1x16") made.inputs.push_back(scale_tensor("tensor", d));
    if (out == "1x32" || out == "1x16") made.outputs.push_back(scale_tensor(asked.scaling_out, d));
    return made;
}

Call GemmCall::call() {
    operation.gemm = &gemm;
    return {&operation, inputs.data(), inputs.size(), outputs.data(), outputs.size()};
}

}  // namespace mx::cublaslt::test
