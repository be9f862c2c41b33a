// The hypotheses of a stochastic rounding: which of the given random bits an element takes. See
// hypotheses.hpp.
#include <utility>

#include "conformance/cause/hypotheses.hpp"

namespace mx::cause {
namespace {

using Hypotheses = std::vector<Alteration>;
using BitsOf = std::function<RandomBits(const RandomSeen& seen)>;

void add(Hypotheses& hypotheses, std::string kind, std::string text, BitsOf bits_of) {
    add_hypothesis(hypotheses, "random_bits:" + std::move(kind), std::move(text)).random =
        std::move(bits_of);
}

RandomBits bits_at(const RandomSeen& seen, std::size_t element) {
    return random_bits_at(seen.p, seen.form, seen.words, element);
}

std::size_t column_of(const RandomSeen& seen) {
    return seen.element % static_cast<std::size_t>(seen.p.columns);
}

RandomBits inverted(RandomBits random) {
    random.bits = ~random.bits << (32 - random.count) >> (32 - random.count);
    return random;
}

// One word for each element.
void add_words(int digits, Hypotheses& hypotheses) {
    add(hypotheses, "other_end", "random bits are taken from the other end of their word",
        [digits](const RandomSeen& seen) {
            return RandomBits{seen.words.at(seen.element) >> (32 - digits), digits};
        });
    add(hypotheses, "of_pairs", "two neighbouring elements take their random bits from one word",
        [](const RandomSeen& seen) { return bits_at(seen, seen.element - column_of(seen) % 2); });
    add(hypotheses, "element_before", "an element takes the random bits of the one before it",
        [](const RandomSeen& seen) {
            return bits_at(seen, seen.element - (column_of(seen) > 0 ? 1 : 0));
        });
    add(hypotheses, "of_row", "all elements of a row take the random bits of its first",
        [](const RandomSeen& seen) { return bits_at(seen, seen.element - column_of(seen)); });
}

// Several elements take their bits from each word.
void add_shared_words(const StochasticForm& form, Hypotheses& hypotheses) {
    const auto values = static_cast<std::size_t>(form.values_per_word);
    add(hypotheses, "halves_exchanged", "the halves of each random word change places",
        [values](const RandomSeen& seen) {
            const std::uint32_t word =
                seen.words.at(seen.element / static_cast<std::size_t>(seen.p.columns) *
                                  static_cast<std::size_t>(seen.words.columns) +
                              column_of(seen) / values);
            return random_bits_of(seen.form, word >> 16 | word << 16,
                                  static_cast<std::int64_t>(column_of(seen)));
        });
    add(hypotheses, "run_on", "random words run on over the ends of rows",
        [values](const RandomSeen& seen) {
            return random_bits_of(seen.form, seen.words.at(seen.element / values),
                                  static_cast<std::int64_t>(column_of(seen)));
        });
}

}  // namespace

void add_random_bits(const Problem& p, Hypotheses& hypotheses) {
    const StochasticForm* form = stochastic_form_of(p);
    if (form == nullptr) return;
    if (form->values_per_word > 1)
        add_shared_words(*form, hypotheses);
    else
        add_words(form->bits, hypotheses);
    add(hypotheses, "inverted", "random bits are inverted",
        [](const RandomSeen& seen) { return inverted(bits_at(seen, seen.element)); });
    add(hypotheses, "inverted_if_negative",
        "negative elements are rounded by inverted random bits, so up instead of away from zero",
        [](const RandomSeen& seen) {
            const RandomBits random = bits_at(seen, seen.element);
            const bool is_negative = seen.p.type.is_negative(Code{seen.values.at(seen.element)});
            return is_negative ? inverted(random) : random;
        });
}

}  // namespace mx::cause
