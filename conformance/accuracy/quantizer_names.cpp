// See quantizer_names.hpp.
#include "conformance/accuracy/quantizer_names.hpp"

#include "conformance/case/names.hpp"
#include "conformance/emulate/quantized_facts.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::accuracy {

Expected<Quantization> quantizer_of(const QuantizerNames& names) {
    const Status known = emulate::check_names(
        emulate::completed({.format = names.format, .dialect = names.dialect}));
    if (!known) return known.error();
    const BlockFormat* format = find_block_format(names.format);
    const Quantizer* dialect = find_quantizer(names.dialect);
    if (names.dialect.empty())
        return bad_input(names.format + " needs a dialect; mxcheck list dialects names them");
    if (format->has_e8m0_scales()) return Quantization{.format = *format, .rules = *dialect};
    if (!dialect->reads(formats::f32.name))
        return bad_input("dialect " + names.dialect +
                         " does not read f32, and what is measured here are values of f32");
    if (dialect->tensor_scale == TensorScale::history)
        return bad_input("dialect " + names.dialect +
                         " takes its scale from earlier tensors, and here there are none");
    return Quantization{.format = *format, .rules = *dialect};
}

std::vector<std::string> usual_dialects(const std::string& format) {
    const BlockFormat* row = find_block_format(format);
    std::vector<std::string> names;
    for (const char* name : {"ocp", "nv"})
        if (row == nullptr || find_quantizer(name)->quantizes(*row)) names.emplace_back(name);
    return names.empty() ? std::vector{usual_quantizer(*row)} : names;
}

}  // namespace mx::accuracy
