// See tensor_listing.hpp. Chooses the container; each has a reader of its own.
#include "conformance/data/tensor_listing.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "conformance/data/npy.hpp"
#include "conformance/data/zip_file.hpp"

namespace mx::data {
namespace {

std::string lower_case(std::string text) {
    for (char& letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

struct Reader {
    std::string_view extension;
    Container container;
};
constexpr std::array readers{
    Reader{".npy", Container::npy},     Reader{".npz", Container::npz},
    Reader{".gguf", Container::gguf},   Reader{".safetensors", Container::safetensors},
    Reader{".pt", Container::torch},    Reader{".pth", Container::torch},
    Reader{".json", Container::shards},
};

bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
    return bytes.size() >= text.size() &&
           std::equal(text.begin(), text.end(), bytes.begin(),
                      [](char a, std::byte b) { return static_cast<std::byte>(a) == b; });
}

}  // namespace

Container container_by_extension(std::string_view path) {
    const std::string extension = lower_case(std::filesystem::path(path).extension().string());
    for (const Reader& reader : readers)
        if (reader.extension == extension) return reader.container;
    return Container::unknown;
}

Expected<Container> container_by_magic(const ByteSource& source) {
    std::array<std::byte, 9> start{};
    const auto bytes = std::span(start).first(std::min<std::uint64_t>(9, source.size()));
    if (const Status status = source.read(0, bytes); !status) return status.error();
    if (begins_with(bytes, npy_magic)) return Container::npy;
    if (begins_with(bytes, "GGUF")) return Container::gguf;
    if (begins_with(bytes, zip_magic) || begins_with(bytes, "PK\5\6")) return Container::torch;
    if (bytes.size() == 9 && begins_with(bytes.subspan(8), "{")) return Container::safetensors;
    return Container::unknown;
}

Error unknown_container(const std::string& path) {
    const std::string extension = lower_case(std::filesystem::path(path).extension().string());
    return bad_input(path + ": unknown kind of tensor file " + in_quotes(extension) +
                     "; known: .npy, .npz, .safetensors, .safetensors.index.json, .gguf, .pt");
}

Expected<TensorListing> list_tensors(const std::string& path, const ReadOptions& options) {
    auto opened = open_file(path);
    if (!opened) return opened.error();
    const SharedSource source = std::move(opened).value();
    const auto magic = container_by_magic(*source);
    if (!magic) return magic.error();
    Container container = container_by_extension(path);
    if (container == Container::unknown) container = magic.value();
    if (container == Container::unknown) return unknown_container(path);
    if (container == Container::npy) return list_npy(source, options);
    if (container == Container::npz) return list_npz(source, options);
    if (container == Container::safetensors && magic.value() == Container::npy)
        return bad_source(*source, "is named .safetensors but holds a .npy; rename it");
    if (!options.type_override.empty())
        return bad_source(*source,
                          "names its own types; only a .npy or .npz can be read as another type, "
                          "here " +
                              in_quotes(options.type_override));
    switch (container) {
        case Container::safetensors:
            return list_safetensors(source);
        case Container::gguf:
            return list_gguf(source);
        case Container::shards:
            return list_shards(source, open_file);
        default:
            break;
    }
    std::array<std::byte, 1> first{};
    const bool is_old =
        source->size() > 0 && source->read(0, first).ok() && first[0] == std::byte{0x80};
    if (is_old)
        return bad_source(*source,
                          "is a bare pickle, as torch wrote before 1.6; load it there and "
                          "torch.save it again");
    return list_torch(source);
}

Status read_bytes(const ListedTensor& tensor, std::uint64_t offset, std::span<std::byte> into) {
    return tensor.source->read(tensor.range.begin + offset, into);
}

Expected<HostTensor> read_whole(const ListedTensor& tensor) {
    auto bytes = read_range(*tensor.source, tensor.range, "tensor " + in_quotes(tensor.name));
    if (!bytes) return bytes.error();
    return HostTensor{tensor.name, tensor.type, tensor.shape, std::move(bytes).value()};
}

Expected<TensorFile> read_all(const TensorListing& listing) {
    TensorFile file;
    file.metadata = listing.metadata;
    std::uint64_t all = 0;
    for (const ListedTensor& tensor : listing.tensors) all += tensor.size();
    if (!listing.tensors.empty())
        if (const Status enough = check_memory(*listing.tensors.front().source, all); !enough)
            return enough.error();
    for (const ListedTensor& tensor : listing.tensors) {
        auto whole = read_whole(tensor);
        if (!whole) return whole.error();
        file.tensors.push_back(std::move(whole).value());
    }
    return file;
}

}  // namespace mx::data
