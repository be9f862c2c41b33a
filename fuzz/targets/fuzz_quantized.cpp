// Any bytes as a quantized file, which is a .safetensors that says how it was made: refused with a
// sentence, or values of the shape it says.
#include "conformance/data/safetensors.hpp"
#include "conformance/emulate/requantize.hpp"
#include "fuzz/targets/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    auto file = mx::data::parse_safetensors(std::as_bytes(std::span(data, size)), "fuzz");
    if (!file) return 0;
    const auto facts = mx::emulate::read_facts(file.value(), {});
    if (!facts) {
        require_sentence(facts.error());
        return 0;
    }
    const auto values =
        mx::emulate::dequantize_tensor(std::move(file).value(), facts.value(), "f32");
    if (!values) {
        require_sentence(values.error());
        return 0;
    }
    require("one tensor", values.value().tensors.size() == 1);
    const mx::data::HostTensor& tensor = values.value().tensors.front();
    require("of the shape it was made from", tensor.shape == facts.value().shape);
    require("that is sound", mx::data::check_tensor(tensor).ok());
    return 0;
}
