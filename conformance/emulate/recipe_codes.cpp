// See recipe_codes.hpp.
#include "conformance/emulate/recipe_codes.hpp"

namespace mx::emulate {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

std::uint32_t byte_at(const data::HostTensor& tensor, std::size_t index) {
    return static_cast<std::uint32_t>(tensor.bytes[index]);
}

}  // namespace

std::vector<Code> codes_in(const data::HostTensor& tensor) {
    const ElementFormat& format = *find_element_format(tensor.type);
    std::vector<Code> codes;
    if (format.code_bits() == 4) {
        for (std::size_t i = 0; i < tensor.bytes.size(); ++i) {
            codes.push_back(Code{byte_at(tensor, i) & 0xF});
            codes.push_back(Code{byte_at(tensor, i) >> 4});
        }
        return codes;
    }
    const std::size_t width = static_cast<std::size_t>(format.code_bytes());
    for (std::size_t first = 0; first + width <= tensor.bytes.size(); first += width) {
        Code code;
        for (std::size_t byte = 0; byte < width; ++byte)
            code.bits |= byte_at(tensor, first + byte) << (8 * byte);
        codes.push_back(code);
    }
    return codes;
}

Expected<data::HostTensor> tensor_of(const std::string& name, const ElementFormat& format,
                                     const std::vector<std::int64_t>& shape,
                                     const std::vector<Code>& codes) {
    data::HostTensor tensor{name, std::string(format.name), shape, {}};
    const auto put = [&tensor](std::uint32_t bits) {
        tensor.bytes.push_back(static_cast<std::byte>(bits & 0xFF));
    };
    if (format.code_bits() == 4) {
        if (codes.size() % 2 != 0)
            return bad("a tensor of shape " + data::shape_text(shape) +
                       " has an odd number of elements, but two of four bits share a byte");
        for (std::size_t i = 0; i < codes.size(); i += 2)
            put(codes[i].bits | codes[i + 1].bits << 4);
        return tensor;
    }
    for (const Code code : codes)
        for (int byte = 0; byte < format.code_bytes(); ++byte) put(code.bits >> (8 * byte));
    return tensor;
}

Expected<ShapedCodes> find_codes(const data::TensorFile& file, const std::string& name,
                                 const ElementFormat& format) {
    for (const data::HostTensor& tensor : file.tensors) {
        if (tensor.name != name) continue;
        if (tensor.type != format.name)
            return bad("tensor '" + name + "' is " + tensor.type + ", but the format needs " +
                       std::string(format.name));
        return ShapedCodes{tensor.shape, codes_in(tensor)};
    }
    return bad("the file has no tensor '" + name + "'");
}

}  // namespace mx::emulate
