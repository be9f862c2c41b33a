// data.hpp. A small generator of its own: drawing 16 million normal deviates from <random> would
// take longer than the measurement.
#include "bench/data.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <new>

namespace mx::bench {
namespace {

constexpr std::align_val_t page{std::size_t{2} << 20};

// Marsaglia's 64-bit xorshift; the upper half is taken.
class Bits {
public:
    std::uint32_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<std::uint32_t>(state_ >> 32);
    }

private:
    std::uint64_t state_ = 0x9E3779B97F4A7C15u;
};

// The sum of eight 16-bit numbers is close to normally distributed.
float bell(Bits& bits) {
    std::int32_t sum = -4 * 0xFFFF;
    for (int i = 0; i < 4; ++i) {
        const std::uint32_t pair = bits.next();
        sum += static_cast<std::int32_t>((pair & 0xFFFFu) + (pair >> 16));
    }
    return static_cast<float>(sum) * 0x1p-16f;
}

void fill_realistic(std::span<std::uint32_t> words, Bits& bits) {
    for (std::size_t i = 0; i < words.size(); i += 32) {
        const std::uint32_t binades = bits.next() % 13;
        const float size = static_cast<float>(1u << binades) * 0x1p-6f;
        for (std::size_t j = i; j < i + 32 && j < words.size(); ++j) {
            words[j] = std::bit_cast<std::uint32_t>(bell(bits) * size);
        }
    }
}

}  // namespace

void fill(std::span<std::uint32_t> words, Data data) {
    Bits bits;
    if (data == Data::realistic) return fill_realistic(words, bits);
    const std::uint32_t mask = data == Data::subnormals ? 0x807FFFFFu : 0xFFFFFFFFu;
    for (std::uint32_t& word : words) word = bits.next() & mask;
}

void fill_values(std::span<std::uint8_t> bytes, std::string_view type, Data data) {
    if (type == "f32")
        return fill({reinterpret_cast<std::uint32_t*>(bytes.data()), bytes.size() / 4}, data);
    Buffer wide(2 * bytes.size());
    fill(wide.words(), data);
    for (std::size_t i = 0; i < wide.words().size(); ++i) {
        const std::uint32_t word = wide.words()[i];
        std::uint32_t half = word >> 16;
        if (type == "f16" && data == Data::realistic)
            half = (half & 0x8000u) | (0x3000u + (word >> 10 & 0x1FFFu));
        const auto narrow = static_cast<std::uint16_t>(half);
        std::memcpy(bytes.data() + 2 * i, &narrow, sizeof narrow);
    }
}

void Buffer::Free::operator()(std::uint8_t* bytes) const {
    ::operator delete[](bytes, page);
}

Buffer::Buffer(std::size_t bytes)
    : bytes_(static_cast<std::uint8_t*>(::operator new[](bytes, page))), size_(bytes) {
    // With 4 KB pages, where they happen to lie decides the speed of large loops.
    madvise(bytes_.get(), bytes, MADV_HUGEPAGE);
    std::memset(bytes_.get(), 0x5A, bytes);
}

}  // namespace mx::bench
