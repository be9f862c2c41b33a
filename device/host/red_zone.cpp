// Red zones, filled and checked by words. Used by CallBuffers; knows no tensors.
#include "device/host/red_zone.hpp"

#include <algorithm>
#include <cstring>

namespace mx {

namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);

// Neighbours differ in every byte but, rarely, one: the odd constant is 2^64 over the golden ratio.
std::uint64_t zone_word(std::size_t index) {
    return (index + 1) * 0x9E3779B97F4A7C15u;
}

std::byte zone_byte(std::size_t place) {
    const std::uint64_t word = zone_word(place / word_size);
    std::byte bytes[word_size];
    std::memcpy(bytes, &word, word_size);
    return bytes[place % word_size];
}

// The whole words inside a range; the ends that are left over are done by bytes.
ByteRange whole_words(ByteRange range) {
    const std::size_t begin = (range.begin + word_size - 1) / word_size * word_size;
    const std::size_t end = range.end / word_size * word_size;
    return begin < end ? ByteRange{begin, end} : ByteRange{range.end, range.end};
}

void fill_bytes(std::span<std::byte> memory, ByteRange range) {
    for (std::size_t at = range.begin; at < range.end; ++at) memory[at] = zone_byte(at);
}

void count_bytes(std::span<const std::byte> memory, ByteRange range, ChangedBytes& changed) {
    for (std::size_t at = range.begin; at < range.end; ++at) {
        if (memory[at] == zone_byte(at)) continue;
        if (changed.count == 0) changed.first = at;
        ++changed.count;
    }
}

}  // namespace

void fill_zone(std::span<std::byte> memory, ByteRange range) {
    const ByteRange words = whole_words(range);
    fill_bytes(memory, {range.begin, words.begin});
    for (std::size_t at = words.begin; at < words.end; at += word_size) {
        const std::uint64_t word = zone_word(at / word_size);
        std::memcpy(memory.data() + at, &word, word_size);
    }
    fill_bytes(memory, {words.end, range.end});
}

ChangedBytes changed_in_zone(std::span<const std::byte> memory, ByteRange range) {
    const ByteRange words = whole_words(range);
    ChangedBytes changed;
    count_bytes(memory, {range.begin, words.begin}, changed);
    for (std::size_t at = words.begin; at < words.end; at += word_size) {
        std::uint64_t word = 0;
        std::memcpy(&word, memory.data() + at, word_size);
        if (word != zone_word(at / word_size)) count_bytes(memory, {at, at + word_size}, changed);
    }
    count_bytes(memory, {words.end, range.end}, changed);
    return changed;
}

}  // namespace mx
