// See tensor_file.hpp.
#include "conformance/data/tensor_file.hpp"

#include <algorithm>
#include <filesystem>

#include "conformance/data/npy.hpp"
#include "conformance/data/safetensors.hpp"
#include "conformance/data/tensor_listing.hpp"
#include "reference/base/files.hpp"

namespace mx::data {
Expected<TensorFile> read_tensor_file(const std::string& path, const ReadOptions& options) {
    const auto listing = list_tensors(path, options);
    if (!listing) return listing.error();
    return read_all(listing.value());
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
    if (container != Container::npy && container != Container::safetensors)
        return bad_input(path + ": unknown kind of tensor file " +
                         in_quotes(std::filesystem::path(path).extension().string()) +
                         " to write; known: .npy, .safetensors");
    const auto encoded = container == Container::npy ? encode_npy(file) : encode_safetensors(file);
    if (!encoded) return Error{encoded.error().kind, path + ": " + encoded.error().message};
    std::vector<std::span<const std::byte>> parts{
        std::as_bytes(std::span<const char>(encoded.value().header))};
    parts.insert(parts.end(), encoded.value().payload.begin(), encoded.value().payload.end());
    return write_atomically(path, parts);
}

}  // namespace mx::data
