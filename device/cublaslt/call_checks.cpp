// See call_checks.hpp.
#include "device/cublaslt/call_checks.hpp"

namespace mx::cublaslt {
namespace {

constexpr std::string_view places[] = {"host", "cuda"};

void check_strides(const std::string& what, const mx_tensor& tensor) {
    if (!is_addressable(tensor))
        invalid(what + " of " + shape_text(tensor) + " with strides " +
                std::to_string(tensor.row_stride) + " and " + std::to_string(tensor.column_stride) +
                " is larger than an address space, or runs backwards");
}

}  // namespace

const mx_gemm& checked_gemm(const Call& call, Buffers buffers, GemmChecks checks) {
    const kit::Call checked(call, buffers);
    if (text_of(call.operation->name) != "gemm")
        not_supported(std::string(checks.speaker) + " does \"gemm\" alone, no operation " +
                      in_double_quotes(call.operation->name));
    const mx_gemm& gemm = checked.gemm();
    checked.expect_places(places);
    checked.for_each_tensor([&](const std::string& what, const mx_tensor& tensor) {
        if (checks.layout_refusal != nullptr)
            if (const std::string reason = checks.layout_refusal(tensor); !reason.empty())
                not_supported(what + reason);
        check_strides(what, tensor);
    });
    return gemm;
}

}  // namespace mx::cublaslt
