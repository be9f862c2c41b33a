// See quantizer_names.hpp.
#include "conformance/accuracy/quantizer_names.hpp"

#include "conformance/emulate/quantized_facts.hpp"
#include "reference/spec/dialects.hpp"

namespace mx::accuracy {

Expected<Quantizer> quantizer_of(const QuantizerNames& names) {
    const Status known = emulate::check_names(
        emulate::completed({.format = names.format, .dialect = names.dialect}));
    if (!known) return known.error();
    const BlockFormat* format = find_block_format(names.format);
    const Dialect* dialect = find_dialect(names.dialect);
    if (format != nullptr && names.dialect.empty())
        return Error{ErrorKind::bad_input,
                     names.format + " needs a dialect; mxcheck list dialects names them"};
    if (format == nullptr || dialect == nullptr)
        return Error{ErrorKind::bad_input, names.format + " in " + names.dialect +
                                               " is a recipe; accuracy and train take block "
                                               "formats"};
    return Quantizer{.format = *format, .rules = *dialect};
}

}  // namespace mx::accuracy
