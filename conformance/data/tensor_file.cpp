// Chooses the container of a tensor file and does the reading and writing. Used by the commands
// that take or make a user's tensors; knows no container's syntax.
#include "conformance/data/tensor_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "conformance/data/npy.hpp"
#include "conformance/data/safetensors.hpp"
#include "reference/base/files.hpp"

namespace mx::data {
namespace {

enum class Container { npy, safetensors, unknown };

std::string extension_of(std::string_view path) {
    std::string extension = std::filesystem::path(path).extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return extension;
}

Container container_by_extension(std::string_view path) {
    const std::string extension = extension_of(path);
    if (extension == ".npy") return Container::npy;
    if (extension == ".safetensors") return Container::safetensors;
    return Container::unknown;
}

Error unknown_extension(const std::string& path) {
    return bad_input(
        path + ": unknown kind of tensor file " + in_quotes(extension_of(path)) +
        "; known: .npy, .safetensors" +
        (extension_of(path) == ".npz" ? " (save each array of a .npz as a .npy)" : ""));
}

// By the first bytes: the magic of .npy, or the brace that opens the header of safetensors.
Expected<Container> container_by_magic(const ByteSource& source) {
    std::array<std::byte, 9> start{};
    const auto length = std::min<std::uint64_t>(start.size(), source.size());
    if (const Status status = source.read(0, std::span(start).first(length)); !status)
        return status.error();
    const auto matches = [&](std::size_t at, std::string_view text) {
        return std::equal(text.begin(), text.end(), start.begin() + static_cast<long>(at),
                          [](char expected, std::byte actual) {
                              return static_cast<std::byte>(expected) == actual;
                          });
    };
    if (matches(0, npy_magic)) return Container::npy;
    if (matches(8, "{")) return Container::safetensors;
    return Container::unknown;
}

}  // namespace

Expected<TensorFile> read_tensor_file(const std::string& path, const ReadOptions& options) {
    const auto source = open_file(path);
    if (!source) return source.error();
    const ByteSource& bytes = *source.value();
    const auto magic = container_by_magic(bytes);
    if (!magic) return magic.error();
    Container container = container_by_extension(path);
    if (container == Container::unknown) container = magic.value();
    if (container == Container::unknown) return unknown_extension(path);
    if (container == Container::safetensors && magic.value() == Container::npy)
        return bad_source(bytes, "is named .safetensors but holds a .npy; rename it");
    if (container == Container::npy) return parse_npy(bytes, options);
    if (!options.type_override.empty())
        return bad_source(bytes,
                          "a safetensors file names its own types; only a .npy can be read "
                          "as another type, here " +
                              in_quotes(options.type_override));
    return parse_safetensors(bytes);
}

Status check_value_type(const std::string& type) {
    for (const char* known : {"f32", "bf16", "f16"})
        if (type == known) return success();
    std::string way_out;
    if (type == "f64") way_out = "; round it to one first, in NumPy by x.astype('float32')";
    if (type == "u16" || type == "i16")
        way_out =
            "; of bf16 codes kept as integers, quantize takes --type bf16, and a "
            ".safetensors can name them";
    return bad_input("holds " + type + ", and quantizers read f32, bf16 and f16" + way_out);
}

std::string names_text(const std::vector<HostTensor>& tensors) {
    constexpr std::size_t named_max = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(tensors.size(), named_max); ++i)
        text += (i == 0 ? "" : ", ") + in_quotes(tensors[i].name);
    return text + (tensors.size() > named_max ? ", ..." : "");
}

Status write_tensor_file(const std::string& path, const TensorFile& file) {
    const Container container = container_by_extension(path);
    if (container == Container::unknown) return unknown_extension(path);
    const auto encoded = container == Container::npy ? encode_npy(file) : encode_safetensors(file);
    if (!encoded) return Error{encoded.error().kind, path + ": " + encoded.error().message};
    std::vector<std::span<const std::byte>> parts{
        std::as_bytes(std::span<const char>(encoded.value().header))};
    parts.insert(parts.end(), encoded.value().payload.begin(), encoded.value().payload.end());
    return write_atomically(path, parts);
}

}  // namespace mx::data
