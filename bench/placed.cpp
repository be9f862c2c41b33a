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

// bfloat16 keeps the upper half of a binary32; binary16 is drawn from the patterns around one.
std::vector<std::uint8_t> values_of(const TensorSpec& spec, Data data) {
    const std::size_t count = element_count(spec);
    Buffer words(4 * count);
    fill(words.words(), data);
    if (spec.type == "f32") return {words.data(), words.data() + words.size()};
    std::vector<std::uint8_t> bytes(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t word = words.words()[i];
        std::uint32_t half = word >> 16;
        if (spec.type == "f16" && data == Data::realistic)
            half = (half & 0x8000u) | (0x3000u + (word >> 10 & 0x1FFFu));
        const auto narrow = static_cast<std::uint16_t>(half);
        std::memcpy(bytes.data() + 2 * i, &narrow, sizeof narrow);
    }
    return bytes;
}

}  // namespace mx::bench
