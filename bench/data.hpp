// What is measured on: never zeros, which are faster to compute and to fetch than anything real.
// Used by all of bench/. Pure functions of a seed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace mx::bench {

enum class Data {
    realistic,    // bell-shaped values whose size differs from block to block
    random_bits,  // every pattern equally likely: all exponents, NaN and Inf among them
    subnormals,
};

void fill(std::span<std::uint32_t> f32_bits, Data data);

// Values of f32, bf16 or f16, as many as fit, from memory aligned for f32: bfloat16 keeps the upper
// half of a binary32; binary16 is drawn from the patterns around one.
void fill_values(std::span<std::uint8_t> bytes, std::string_view type, Data data);

// Bytes aligned to a large page, touched.
class Buffer {
public:
    explicit Buffer(std::size_t bytes);

    std::uint8_t* data() { return bytes_.get(); }
    std::size_t size() const { return size_; }
    std::span<std::uint32_t> words() {
        return {reinterpret_cast<std::uint32_t*>(bytes_.get()), size_ / 4};
    }

private:
    struct Free {
        void operator()(std::uint8_t* bytes) const;
    };
    std::unique_ptr<std::uint8_t[], Free> bytes_;
    std::size_t size_;
};

}  // namespace mx::bench
