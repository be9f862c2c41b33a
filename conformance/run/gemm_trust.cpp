// See gemm_trust.hpp.
#include "conformance/run/gemm_trust.hpp"

#include <vector>

#include "conformance/run/gemm_wrong.hpp"
#include "reference/gemm/output_blocks.hpp"

namespace mx {
namespace {

// Outputs that are looked at before data counts as unable to show an error.
constexpr std::size_t looked_at_max = 8192;

// Is there an output that comes out otherwise? Every so many of them are looked at, in steps that
// meet all rows and columns.
template <typename Result>
bool tells(const gemm::ProblemView& problem, const CodeTensor& expected, const Accepts& accepts,
           const Result& result) {
    const std::size_t count = expected.count();
    std::size_t step = count / looked_at_max + 1;
    while (step > 1 && step % 2 == 0) ++step;
    for (std::size_t i = 0; i < count; i += step) {
        const std::optional<Code> code = result(problem.place(static_cast<std::int64_t>(i)));
        if (code && !accepts(i, *code)) return true;
    }
    return false;
}

bool tells_of(const WrongGemm& wrong, const gemm::ProblemView& problem, const CodeTensor& expected,
              const Accepts& accepts) {
    return tells(problem, expected, accepts, [&](const gemm::OutputPlace& place) {
        return wrong.result({problem, place});
    });
}

// Other arithmetic that a named model must be told from.
struct OtherRules {
    std::string what;
    gemm::ProblemView problem;
};

std::vector<OtherRules> neighbours_of(const gemm::ProblemView& problem,
                                      std::vector<GemmModel>& models) {
    std::vector<OtherRules> others;
    gemm::ProblemView exact = problem;
    exact.model = nullptr;
    others.push_back({"the exact sum rounded once", exact});
    models.reserve(1);
    if (problem.model->promotion != 0 && problem.depth > problem.model->promotion &&
        problem.model->scaling == BlockScaling::none) {
        models.push_back(*problem.model);
        models.back().promotion *= 2;
        gemm::ProblemView other = problem;
        other.model = &models.back();
        others.push_back({"promotion after twice as many products", other});
    }
    return others;
}

// The codes of a block's lanes after something has gone wrong, as the block is made of them.
template <typename Result>
gemm::OutputBlock wrong_block(const gemm::ProblemView& problem, const gemm::OutputBlockPlace& place,
                              const Result& result) {
    std::vector<Code> numbers;
    for (std::int64_t lane = 0; lane < place.count; ++lane) {
        const gemm::OutputPlace at = place.lane(lane);
        const std::optional<Code> number = result(at);
        numbers.push_back(number ? *number : expected_result(problem, problem.output(at)));
    }
    return block_of_numbers(problem, numbers);
}

// Is there a block that comes out otherwise?
template <typename Result>
bool tells_blocks(const gemm::ProblemView& problem, const AcceptsBlock& accepts,
                  const Result& result) {
    const std::int64_t count = output_block_count(problem);
    const std::int64_t looked_at = static_cast<std::int64_t>(looked_at_max) / 32;
    std::int64_t step = count / looked_at + 1;
    while (step > 1 && step % 2 == 0) ++step;
    for (std::int64_t block = 0; block < count; block += step)
        if (!accepts(block, wrong_block(problem, output_block(problem, block), result)))
            return true;
    return false;
}

// Blocks whose scales are those of the ones before them.
bool scales_are_alike(const CodeTensor& scales) {
    for (std::size_t i = 1; i < scales.count(); ++i)
        if (scales.at(i) != scales.at(i - 1)) return false;
    return scales.count() > 1;
}

constexpr const char* could_not_fail = "this data could not have failed: every output would pass ";

}  // namespace

bool is_as_good(const gemm::ProblemView& problem, Code expected, Code actual) {
    if (expected == actual) return true;
    if (problem.model != nullptr && !problem.is_bounded) return false;
    const ElementFormat& d = problem.element;
    return (d.is_zero(expected) && d.is_zero(actual)) || (d.is_nan(expected) && d.is_nan(actual));
}

std::string untold_by(const gemm::ProblemView& problem, const CodeTensor& expected,
                      const Accepts& accepts) {
    const std::string same = could_not_fail;
    for (const WrongGemm& wrong : wrong_gemms()) {
        if (!wrong.applies(problem) || (problem.is_bounded && !wrong.is_gross)) continue;
        if (!tells_of(wrong, problem, expected, accepts))
            return same + "where " + std::string(wrong.what);
    }
    if (problem.model == nullptr || problem.is_bounded) return "";
    std::vector<GemmModel> models;
    for (const OtherRules& other : neighbours_of(problem, models)) {
        const bool is_told = tells(problem, expected, accepts, [&](const gemm::OutputPlace& place) {
            return std::optional(expected_result(other.problem, problem.output(place)));
        });
        if (!is_told) return same + "as " + other.what;
    }
    return "";
}

std::vector<const WrongGemm*> gross_untold_by(const gemm::ProblemView& problem,
                                              const CodeTensor& expected, const Accepts& accepts) {
    std::vector<const WrongGemm*> untold;
    for (const WrongGemm& wrong : wrong_gemms()) {
        if (!wrong.applies(problem) || !wrong.is_gross) continue;
        if (!tells_of(wrong, problem, expected, accepts)) untold.push_back(&wrong);
    }
    return untold;
}

std::string untold_by_blocks(const gemm::ProblemView& problem, const CodeTensor& scales,
                             const AcceptsBlock& accepts) {
    const std::string same = could_not_fail;
    if (scales_are_alike(scales))
        return same + "where a block of D takes the scale of the block before";
    for (const WrongGemm& wrong : wrong_gemms()) {
        // What is small may leave no trace in eight bits, as under a bound.
        if (!wrong.applies(problem) || !wrong.is_gross) continue;
        const bool is_told = tells_blocks(problem, accepts, [&](const gemm::OutputPlace& place) {
            return wrong.result({problem, place});
        });
        if (!is_told) return same + "where " + std::string(wrong.what);
    }
    return "";
}

}  // namespace mx
