// What is known to be right of a row of the quantizer table: blocks typed by hand, answers that
// were recorded, and, to know whether a changed row differs at all, probes that nobody answered.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/data/inputs.hpp"
#include "reference/spec/verification.hpp"

namespace mx {

// Something that was asked of a row, with the right answers and those of them that bind.
struct Asked {
    Case c;
    std::vector<CodeTensor> inputs;
    std::vector<CodeTensor> answers;
    std::vector<std::vector<bool>> binding;  // per answer and element; empty: all of them
};

using RowEvidence = std::vector<Asked>;
using EvidenceByRow = std::map<std::string_view, RowEvidence>;

// The blocks and casts of reference/test, which dialect_test and scale_cast_test hold.
EvidenceByRow typed_examples(Sources& sources);

// What each library or machine answered for its own row, in the files that the row's entry of
// verification.hpp names. An answer that is not the row's own, where the row leaves a decision
// open, does not bind.
EvidenceByRow recorded_answers(Sources& sources);

// The rows of gemm_models.hpp that a file of answers was asked for.
std::set<std::string_view> models_answered(std::string_view file);

// Inputs on which a changed row would show, with the row's own answers: what the families of edges
// have for it.
RowEvidence probes_of(const Quantizer& row, Sources& sources);

// The same, of which only that binds which was compared with the library.
RowEvidence covered(RowEvidence probes, Covers covers);

// Where another row gives other bits than binding ones.
struct Witness {
    const Asked* asked;
    std::size_t output, element;
};
std::optional<Witness> first_difference(const RowEvidence& evidence, const Quantizer& other);

// The block of a witness as a case of its own, for a suite of device/peers.
Case block_of(const Witness& witness);

}  // namespace mx
