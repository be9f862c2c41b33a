// Any bytes as the text of a case: its inputs are refused with a sentence, or of the shape that the
// case says, and the same each time.
#include "fuzz/targets/small_case.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    const auto c = mx::parse_case(std::string(as_text(data, size)));
    if (!c) return 0;
    const auto inputs = small_inputs(c.value());
    if (!inputs) return 0;
    const std::vector<mx::Part> parts = mx::inputs_of(c.value());
    require("there is every input", inputs->size() == parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const mx::PartShape shape = shape_of(c.value(), parts[i]);
        const mx::CodeTensor& tensor = (*inputs)[i];
        require("of the right type", tensor.type == shape.type.name);
        require("and shape", tensor.rows == shape.rows && tensor.columns == shape.columns);
    }
    const auto again = small_inputs(c.value());
    for (std::size_t i = 0; i < parts.size(); ++i)
        require("inputs depend on the case alone", (*again)[i].bytes == (*inputs)[i].bytes);
    return 0;
}
