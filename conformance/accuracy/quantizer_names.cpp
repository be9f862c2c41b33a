// See quantizer_names.hpp.
#include "conformance/accuracy/quantizer_names.hpp"

#include "conformance/emulate/quantized_facts.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::accuracy {

Expected<Quantization> quantizer_of(const QuantizerNames& names) {
    const Status known = emulate::check_names(
        emulate::completed({.format = names.format, .dialect = names.dialect}));
    if (!known) return known.error();
    const BlockFormat* format = find_block_format(names.format);
    const Quantizer* dialect = find_quantizer(names.dialect);
    const bool is_e8m0 = format != nullptr && format->has_e8m0_scales();
    if (is_e8m0 && names.dialect.empty())
        return Error{ErrorKind::bad_input,
                     names.format + " needs a dialect; mxcheck list dialects names them"};
    if (!is_e8m0 || dialect == nullptr)
        return Error{ErrorKind::bad_input, names.format + " in " + names.dialect +
                                               " has no E8M0 scales; accuracy and train take MX "
                                               "formats"};
    return Quantization{.format = *format, .rules = *dialect};
}

}  // namespace mx::accuracy
