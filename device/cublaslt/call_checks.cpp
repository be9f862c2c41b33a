// See call_checks.hpp.
#include "device/cublaslt/call_checks.hpp"

#include <utility>

namespace mx::cublaslt {
namespace {

struct Checks {
    const GemmChecks& gemm;
    Buffers buffers;
};

void check_tensor(const std::string& what, const mx_tensor& tensor, const Checks& checks) {
    if (text_of(tensor.place) != "host" && text_of(tensor.place) != "cuda")
        not_supported(what + " lies in " + quoted(tensor.place) +
                      ", and this device takes \"host\" and \"cuda\"");
    if (checks.gemm.layout_refusal != nullptr)
        if (const std::string reason = checks.gemm.layout_refusal(tensor); !reason.empty())
            not_supported(what + reason);
    if (tensor.rows < 0 || tensor.columns < 0)
        invalid(what + " has a negative shape, " + shape_text(tensor));
    if (!is_addressable(tensor))
        invalid(what + " of " + shape_text(tensor) + " with strides " +
                std::to_string(tensor.row_stride) + " and " + std::to_string(tensor.column_stride) +
                " is larger than an address space, or runs backwards");
    const bool is_empty = tensor.rows == 0 || tensor.columns == 0;
    if (checks.buffers == Buffers::present && tensor.data == nullptr && !is_empty)
        invalid(what + " has no data");
}

void check_array(const std::string& what, const mx_tensor* tensors, std::size_t count,
                 const Checks& checks) {
    if (count == 0) return;
    if (tensors == nullptr) invalid("the " + what + " tensors are NULL");
    if (tensors->struct_size < sizeof(mx_tensor) || tensors->struct_size % alignof(mx_tensor) != 0)
        invalid("mx_tensor.struct_size of the first " + what + " is not that of this ABI's struct");
    for (std::size_t i = 0; i < count; ++i)
        check_tensor(what + " " + std::to_string(i), tensor_at(tensors, i), checks);
}

}  // namespace

void invalid(std::string reason) {
    throw Refusal{MX_INVALID, std::move(reason)};
}
void not_supported(std::string reason) {
    throw Refusal{MX_NOT_SUPPORTED, std::move(reason)};
}

const mx_gemm& checked_gemm(const Call& call, Buffers buffers, const GemmChecks& checks) {
    if (call.operation == nullptr) invalid("the operation is NULL");
    if (call.operation->struct_size < sizeof(mx_operation))
        invalid("mx_operation.struct_size is smaller than this ABI's struct");
    if (text_of(call.operation->name) != "gemm")
        not_supported(std::string(checks.speaker) + " does \"gemm\" alone, no operation " +
                      quoted(call.operation->name));
    if (call.operation->gemm == nullptr) invalid("mx_operation.gemm is NULL");
    if (call.operation->gemm->struct_size < sizeof(mx_gemm))
        invalid("mx_gemm.struct_size is smaller than this ABI's struct");
    check_array("input", call.inputs, call.input_count, {checks, buffers});
    check_array("output", call.outputs, call.output_count, {checks, buffers});
    return *call.operation->gemm;
}

}  // namespace mx::cublaslt
