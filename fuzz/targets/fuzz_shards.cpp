// Any bytes as an index of safetensors, whose files all hold one tensor "a": listed or refused with
// a sentence. Run by libFuzzer or by replay_main.cpp; must not know which.
#include "fuzz/targets/listing.hpp"

namespace {

constexpr char shard[] =
    "\x35"
    "\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}"
    "xy";

mx::Expected<std::unique_ptr<mx::data::ByteSource>> open_shard(const std::string& path) {
    mx::fuzz::require("a file of an index lies beside it", path.find('/') == path.npos);
    const auto bytes = std::as_bytes(std::span(shard).first(sizeof shard - 1));
    return std::unique_ptr<mx::data::ByteSource>(
        std::make_unique<mx::data::MemorySource>(bytes, path));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    mx::fuzz::check_listing(mx::data::list_shards(mx::fuzz::source_of(data, size), open_shard));
    return 0;
}
