// Sizes and names of host tensors, checked. Used by every reader and writer of tensor files; knows
// no file format's syntax.
#include "conformance/data/host_tensor.hpp"

#include <limits>

namespace mx::data {
namespace {

constexpr std::size_t longest_quote = 80;
constexpr std::size_t longest_shape = 16;

Error shape_error(std::span<const std::int64_t> shape, std::string_view what) {
    return bad_input("shape " + shape_text(shape) + " " + std::string(what));
}

}  // namespace

Expected<std::uint64_t> byte_count(const TensorType& type, std::span<const std::int64_t> shape) {
    constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (shape.size() > max_rank)
        return shape_error(shape, "has " + std::to_string(shape.size()) +
                                      " dimensions; the limit is " + std::to_string(max_rank));
    auto bits = static_cast<std::uint64_t>(type.bits);
    bool empty = false;
    for (const std::int64_t dimension : shape) {
        if (dimension < 0) return shape_error(shape, "has a negative dimension");
        if (dimension == 0) {
            empty = true;
        } else {
            const auto factor = static_cast<std::uint64_t>(dimension);
            if (bits > limit / factor)
                return shape_error(shape, "of type " + std::string(type.id) +
                                              " is larger than any memory (2^63 bits or more)");
            bits *= factor;
        }
    }
    if (empty) return std::uint64_t{0};
    if (bits % 8 != 0)
        return shape_error(shape, "of type " + std::string(type.id) + " is " +
                                      std::to_string(bits) + " bits, which fill no whole bytes");
    return bits / 8;
}

Status check_tensor(const HostTensor& tensor) {
    const std::string who = "tensor " + in_quotes(tensor.name) + ": ";
    const TensorType* type = find_tensor_type(tensor.type);
    if (type == nullptr)
        return bad_input(who + "unknown type " + in_quotes(tensor.type) +
                         "; known types: " + tensor_type_list());
    const auto expected = byte_count(*type, tensor.shape);
    if (!expected) return bad_input(who + expected.error().message);
    if (expected.value() != tensor.bytes.size())
        return bad_input(who + "shape " + shape_text(tensor.shape) + " of type " + tensor.type +
                         " is " + std::to_string(expected.value()) + " bytes, but it holds " +
                         std::to_string(tensor.bytes.size()));
    return success();
}

std::string shape_text(std::span<const std::int64_t> shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size() && i < longest_shape; ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    if (shape.size() > longest_shape) text += ", ...";
    return text + (shape.size() == 1 ? ",)" : ")");
}

std::string in_quotes(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result = "'";
    for (const char character : text.substr(0, longest_quote)) {
        const auto code = static_cast<unsigned char>(character);
        if (code >= 0x20 && code < 0x7F) {
            result += character;
        } else {
            result += "\\x";
            result += digits[code >> 4];
            result += digits[code & 15];
        }
    }
    return result + (text.size() > longest_quote ? "...'" : "'");
}

std::string tensor_type_list() {
    std::string list;
    for (const TensorType& type : tensor_types)
        list += (list.empty() ? "" : ", ") + std::string(type.id);
    return list;
}

}  // namespace mx::data
