// See random_words.hpp.
#include "conformance/data/random_words.hpp"

#include "conformance/data/converter.hpp"
#include "conformance/data/philox.hpp"
#include "reference/problem/problem.hpp"

namespace mx {
namespace {

// The least bits with which a value goes away from zero; 0 if all or none do.
std::uint32_t least_carrying(const Converter& convert, Code value, int count) {
    const std::uint32_t all = ~std::uint32_t{0} >> (32 - count);
    const Code stays = convert(value, {0, count});
    if (convert(value, {all, count}) == stays) return 0;
    std::uint32_t below = 0, above = all;
    while (above - below > 1) {
        const std::uint32_t middle = below + (above - below) / 2;
        (convert(value, {middle, count}) == stays ? below : above) = middle;
    }
    return above;
}

// Of four values one gets the least bits that carry, and one those just below.
std::uint32_t near_border(std::uint32_t random, std::uint32_t choice, std::uint32_t border) {
    if (border == 0 || choice % 4 > 1) return random;
    return border - choice % 4;
}

// A word's first value alone where it serves one; its first and its third where it serves four.
struct Served {
    std::size_t value;
    int bits, shift;
};

std::vector<Served> served_by(const Case& c, const CodeTensor& words, std::size_t word) {
    const StochasticForm& form = *stochastic_form_of(c);
    const std::size_t columns = static_cast<std::size_t>(c.columns);
    const std::size_t row = word / static_cast<std::size_t>(words.columns);
    const std::size_t first = word % static_cast<std::size_t>(words.columns) *
                              static_cast<std::size_t>(form.values_per_word);
    std::vector<Served> served{{row * columns + first, form.bits, 0}};
    if (form.values_per_word == 4 && first + 2 < columns)
        served.push_back({row * columns + first + 2, form.bits, form.bits});
    return served;
}

// A word for each value of blocks; a block asked alone gets those that it had among others.
void fill_words_of_blocks(const Case& c, CodeTensor& words) {
    const Blocking blocking = blocking_of(c);
    const auto lanes = static_cast<std::uint64_t>(lanes_of(blocking));
    for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
        const BlockPlace place = place_of(blocking, block);
        for (int lane = 0; lane < place.count; ++lane) {
            const std::uint64_t number = (c.index + static_cast<std::uint64_t>(block)) * lanes +
                                         static_cast<std::uint64_t>(lane);
            words.set(place.element(lane), philox({c.seed, 12, number / 4})[number % 4]);
        }
    }
}

}  // namespace

// The words depend on the seed, the values and their place in the endless list of the case's
// blocks, so that one block asked alone gets the words it had among the others.
void fill_random_words(const Case& c, const CodeTensor& values, CodeTensor& words) {
    if (has_blocks(c)) return fill_words_of_blocks(c, words);
    const Converter convert(c);
    const auto words_of_a_block =
        static_cast<std::uint64_t>(block_size / stochastic_form_of(c)->values_per_word);
    for (std::size_t i = 0; i < words.count(); ++i) {
        const std::uint64_t number = c.index * words_of_a_block + i;
        std::uint32_t word = philox({c.seed, 12, number / 4})[number % 4];
        const std::uint32_t choice = philox({c.seed, 13, number / 4})[number % 4];
        for (const Served& served : served_by(c, words, i)) {
            const std::uint32_t mask = ~std::uint32_t{0} >> (32 - served.bits) << served.shift;
            const std::uint32_t border =
                least_carrying(convert, Code{values.at(served.value)}, served.bits);
            const std::uint32_t bits =
                near_border(word >> served.shift, choice >> served.shift, border);
            word = (word & ~mask) | (bits << served.shift & mask);
        }
        words.set(i, word);
    }
}

}  // namespace mx
