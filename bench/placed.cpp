// See placed.hpp.
#include "bench/placed.hpp"

#include <cstring>

namespace mx::bench {

Expected<Placed> Placed::make(const TensorSpec& spec, bool on_gpu) {
    const auto bytes = byte_extent(spec);
    if (!bytes) return bytes.error();
    Placed placed;
    placed.spec_ = spec;
    placed.size_ = bytes.value();
    if (!on_gpu) {
        placed.host_ = std::make_unique<Buffer>(placed.size_);
        return placed;
    }
    auto memory = gpu::allocate(placed.size_);
    if (!memory) return memory.error();
    placed.memory_ = std::move(memory).value();
    return placed;
}

Status Placed::fill_with(const std::vector<std::uint8_t>& bytes) {
    if (!host_) return gpu::upload(memory_.get(), bytes.data(), size_);
    std::memcpy(host_->data(), bytes.data(), size_);
    return success();
}

Expected<std::vector<std::uint8_t>> Placed::bytes() const {
    std::vector<std::uint8_t> bytes(size_);
    if (host_) {
        std::memcpy(bytes.data(), host_->data(), size_);
        return bytes;
    }
    if (const Status done = gpu::download(bytes.data(), memory_.get(), size_); !done)
        return done.error();
    return bytes;
}

TensorBuffer Placed::buffer() const {
    return {spec_, data(), host_ ? "host" : "cuda"};
}

std::vector<std::uint8_t> values_of(const TensorSpec& spec, Data data) {
    std::vector<std::uint8_t> bytes(element_count(spec) * element_width(spec.type));
    fill_values(bytes, spec.type, data);
    return bytes;
}

}  // namespace mx::bench
