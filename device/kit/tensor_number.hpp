// The number that some dialects keep for a whole tensor: where a call says that it comes from, and
// the tensor that holds it.
#pragma once

#include <string>

#include "device/kit/call.hpp"

namespace mx::kit {

enum class NumberSource { none, given, derived };

// What number a dialect keeps: none, one that follows from the tensor, or one that follows from
// earlier tensors and so is always given.
enum class KeptNumber { none, of_tensor, of_history };

// `tensor_scale` of the call, held to its dialect. A device may have a `Source` of its own, with
// the values none, given and derived.
template <typename Source = NumberSource>
Source number_source(const mx_operation& operation, KeptNumber kept) {
    constexpr Named<Source> names[] = {
        {"", Source::none}, {"given", Source::given}, {"derived", Source::derived}};
    const Source source = choose(names, operation.tensor_scale, "tensor_scale");
    const std::string dialect = "dialect " + in_double_quotes(operation.dialect);
    if ((kept != KeptNumber::none) != (source != Source::none))
        invalid(dialect + " has " + (kept == KeptNumber::none ? "no" : "a") +
                " number for the tensor, and tensor_scale is " +
                in_double_quotes(operation.tensor_scale));
    if (kept == KeptNumber::of_history && source == Source::derived)
        not_supported(dialect +
                      " has its scale from earlier tensors, and tensor_scale is "
                      "\"derived\"");
    return source;
}

// Of a format under E8M0: a scale that is a power of two serves numbers of any size.
inline void expect_no_tensor_number(const mx_operation& operation) {
    if (operation.tensor_scale == nullptr) return;
    invalid("format " + in_double_quotes(operation.format) +
            " has no number for the tensor, and tensor_scale is " +
            in_double_quotes(operation.tensor_scale));
}

inline void expect_tensor_number(const Tensor& number) {
    number.expect_type("f32");
    number.expect_strided();
    number.expect_shape({1, 1});
}

}  // namespace mx::kit
