// The only place where two buffers are compared. See difference.hpp.
#include <algorithm>
#include <cstring>

#include "conformance/run/difference.hpp"
#include "conformance/run/site.hpp"
#include "reference/problem/problem.hpp"

namespace mx {
namespace {

// Of dequantized values where the dialect says so; of numbers of binary32 that stand for a scale.
bool any_nan_is_right(const Case& c, std::size_t output) {
    if (is_gemm(c)) return false;
    if (c.operation == OperationKind::dequantize) return rules_of(c).nan_value == NanValue::any;
    return holds_scales(c, output) && output_format(c, output) == formats::f32;
}

void compare_output(const Evidence& e, std::size_t output,
                    const std::function<void(const Difference&)>& visit) {
    const CodeTensor& expected = e.expected[output];
    const CodeTensor& actual = e.actual[output];
    const std::vector<std::uint8_t>& flags = e.flags[output];
    const bool any_flag = std::any_of(flags.begin(), flags.end(), [](auto f) { return f != 0; });
    if (!any_flag && expected.bytes == actual.bytes) return;
    // A GEMM has judges of its own, which ask for what differs.
    const ElementFormat format = is_gemm(e.c) ? formats::f32 : output_format(e.c, output);
    const bool any_nan_will_do = any_nan_is_right(e.c, output);
    for (std::size_t i = 0; i < expected.count(); ++i) {
        const Difference difference{output, i, expected.at(i), actual.at(i), flags[i]};
        if (difference.flags == 0) {
            if (difference.expected == difference.actual) continue;
            if (any_nan_will_do && format.is_nan(Code{difference.expected}) &&
                format.is_nan(Code{difference.actual}))
                continue;
        }
        visit(difference);
    }
}

}  // namespace

void for_each_difference(const Evidence& evidence,
                         const std::function<void(const Difference&)>& visit) {
    for (std::size_t output = evidence.expected.size(); output-- > 0;)
        compare_output(evidence, output, visit);
}

bool has_insufficient_data(const Evidence& evidence) {
    constexpr std::size_t few = block_size;
    if (!is_file(evidence.c) && !evidence.c.data.starts_with("random.")) return false;
    if (evidence.expected[0].count() <= few) return false;
    return std::all_of(evidence.expected.begin(), evidence.expected.end(),
                       [](const CodeTensor& tensor) {
                           for (std::size_t i = 1; i < tensor.count(); ++i)
                               if (tensor.at(i) != tensor.at(0)) return false;
                           return true;
                       });
}

}  // namespace mx
