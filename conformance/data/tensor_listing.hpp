// What a file of tensors holds, before any of it is in memory: each tensor has a name, a type, a
// shape and bytes that are read in pieces. One interface for every container. Used by whoever reads
// a user's tensors; knows nothing of what is done with them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/data/byte_source.hpp"
#include "conformance/data/host_tensor.hpp"

namespace mx::data {

struct ListedTensor {
    std::string name = {};
    std::string type = {};  // an id of tensor_types; u8 where block_type says what the bytes are
    std::vector<std::int64_t> shape = {};  // of `type`
    // Where elements and scales come in blocks of bytes: ggml's name for them, and the shape of the
    // elements. "" otherwise.
    std::string block_type = {};
    std::vector<std::int64_t> element_shape = {};
    std::shared_ptr<const ByteSource> source = {};
    ByteRange range = {};

    std::uint64_t size() const { return range.end - range.begin; }
};

struct TensorListing {
    std::vector<ListedTensor> tensors;
    std::vector<std::pair<std::string, std::string>> metadata;
};

enum class Container : std::uint8_t { npy, npz, safetensors, shards, gguf, torch, unknown };
Container container_by_extension(std::string_view path);
// Of a ZIP archive torch: nothing in its first bytes says which.
Expected<Container> container_by_magic(const ByteSource& source);
Error unknown_container(const std::string& path);

using SharedSource = std::shared_ptr<const ByteSource>;

// By extension, and where that says nothing by the first bytes: .npy, .npz, .safetensors, an index
// of safetensors (.index.json) with the files that it names, .gguf, and torch's .pt, .pth and .bin.
// Every failure is one sentence that opens with the path. Takes memory for headers, and for an
// array of a .npy or .npz in Fortran order or big endian, which is put in order.
Expected<TensorListing> list_tensors(const std::string& path, const ReadOptions& options = {});

// The same of one container, for tests and fuzzers.
Expected<TensorListing> list_npy(const SharedSource& source, const ReadOptions& options = {});
Expected<TensorListing> list_npz(const SharedSource& source, const ReadOptions& options = {});
Expected<TensorListing> list_safetensors(const SharedSource& source);
Expected<TensorListing> list_gguf(const SharedSource& source);
Expected<TensorListing> list_torch(const SharedSource& source);
// `index` is the JSON text; `open` opens a file that it names.
using ShardOpener = Expected<std::unique_ptr<ByteSource>> (*)(const std::string& path);
Expected<TensorListing> list_shards(const SharedSource& index, ShardOpener open);

// Fills all of `into` from the tensor's bytes at `offset`; the caller keeps within size().
Status read_bytes(const ListedTensor& tensor, std::uint64_t offset, std::span<std::byte> into);

// The whole of it. Of a block type the bytes.
Expected<HostTensor> read_whole(const ListedTensor& tensor);
Expected<TensorFile> read_all(const TensorListing& listing);

}  // namespace mx::data
