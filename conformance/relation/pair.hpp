// The commonest shape of a relation of quantize: two inputs, and where the codes of the first
// answer stand in the second. Used by the relations alone.
#pragma once

#include <cstdint>

#include "conformance/relation/compare.hpp"

namespace mx::relation {

struct Pair {
    CodeTensor first, second;
    Places elements, scales;
    Form first_form = {}, second_form = {};
    std::uint32_t scale_step = 0;  // that a scale of the second answer is larger
};

// Asks both, compares them, and names both inputs where they part.
Expected<Finding> check_pair(Subject& subject, const Pair& pair);

// The same of dequantize: element codes and scales go in, and values come out.
struct CodePair {
    Quantized first, second;
    Places values;
    Form first_form = {}, second_form = {};
};
Expected<Finding> check_pair(Subject& subject, const CodePair& pair);

// One question asked twice, with another one between.
template <typename Input>
struct Again {
    Input input, between;
    std::string between_text;
};

// The same answer both times: `ask` puts a question, `hold` compares the answers to it.
template <typename Input, typename Ask, typename Hold>
Expected<Finding> check_again(const Again<Input>& again, const Ask& ask, const Hold& hold) {
    const auto first = ask(again.input);
    if (!first) return first.error();
    if (const auto between = ask(again.between); !between) return between.error();
    const auto second = ask(again.input);
    if (!second) return second.error();
    Finding finding;
    hold(finding, first.value(), second.value());
    finding.first = text_of(again.input);
    finding.second = "the same once more, after " + again.between_text;
    return finding;
}

// Several ways to ask one thing, of which a device may do only some: findings of those that it
// does, and its refusal where it does none.
class Tally {
public:
    // False when there is nothing more to ask: the relation broke, or the device did.
    bool add(const Expected<Finding>& finding);
    Expected<Finding> take() const;

private:
    Finding sum_;
    bool any_ = false;
    Error error_ = {ErrorKind::bad_input, "nothing was asked"};
    bool failed_ = false;
};

// Places of scales when rows and columns change places with axis row and col.
std::string text_of(const Form& form);

// Each lane goes `by` lanes further within its block.
struct LaneTurn {
    std::int64_t rows = 1, columns = 1;  // of a block
    std::int64_t by = 1;
};
Places lanes_turned(const CodeTensor& tensor, const LaneTurn& turn);

// The forms of blocks that lanes and neighbours are asked about, and a whole block of each.
std::vector<Form> block_forms(const Setting& setting);
LaneTurn block_of(const Setting& setting, const Form& form);

// The forms in which codes and scales can lie for these types, apart from the plain one.
std::vector<Form> layout_forms(const Setting& setting);

}  // namespace mx::relation
