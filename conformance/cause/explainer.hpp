// Which hypotheses explain every difference of one case? Stands behind the judge of a case, while
// its evidence is there. Costs a passing case no more than a copy of a small answer.
#pragma once

#include <cstdint>

#include "conformance/cause/alteration.hpp"
#include "conformance/results/record.hpp"
#include "conformance/run/evidence.hpp"

namespace mx::cause {

// Whether what is said of a case may hang on those before it: on the answer to the last of them,
// and on the time that they took.
enum class Memory { of_the_run, none };

class Explainer {
public:
    explicit Explainer(Memory memory = Memory::of_the_run) : memory_(memory) {}

    // Of every case in the order in which they are asked: fills in result.explanations and
    // result.looked_at. Whoever asks a case again for a repro line says that here too.
    void operator()(const Evidence& evidence, results::CaseResult& result);

private:
    Memory memory_;
    Tensors before_;             // the right answer to the question before, if that was a small one
    std::int64_t examined_ = 0;  // elements, so far
};

}  // namespace mx::cause
