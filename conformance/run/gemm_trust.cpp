// See gemm_trust.hpp.
#include "conformance/run/gemm_trust.hpp"

#include <vector>

#include "conformance/run/gemm_wrong.hpp"

namespace mx {
namespace {

// Outputs that are looked at before data counts as unable to show an error.
constexpr std::size_t looked_at_max = 8192;

OutputPlace place_of(const CodeTensor& d, std::size_t element) {
    const auto at = static_cast<std::int64_t>(element);
    return {at / d.columns, at % d.columns};
}

// Is there an output that comes out otherwise? Every so many of them are looked at, in steps that
// meet all rows and columns.
template <typename Result>
bool tells(const CodeTensor& expected, const Accepts& accepts, const Result& result) {
    const std::size_t count = expected.count();
    std::size_t step = count / looked_at_max + 1;
    while (step > 1 && step % 2 == 0) ++step;
    for (std::size_t i = 0; i < count; i += step) {
        const std::optional<Code> code = result(place_of(expected, i));
        if (code && !accepts(i, *code)) return true;
    }
    return false;
}

// Other arithmetic that a named model must be told from.
struct OtherRules {
    std::string what;
    GemmRules rules;
};

std::vector<OtherRules> neighbours_of(const GemmRules& rules, std::vector<GemmModel>& models) {
    std::vector<OtherRules> others;
    GemmRules exact = rules;
    exact.model = nullptr;
    others.push_back({"the exact sum rounded once", exact});
    models.reserve(1);
    if (rules.model->promotion != 0 && rules.setting.k > rules.model->promotion &&
        rules.model->scaling == BlockScaling::none) {
        models.push_back(*rules.model);
        models.back().promotion *= 2;
        GemmRules other = rules;
        other.model = &models.back();
        others.push_back({"promotion after twice as many products", other});
    }
    return others;
}

}  // namespace

bool is_as_good(const GemmRules& rules, Code expected, Code actual) {
    if (expected == actual) return true;
    if (rules.model != nullptr && !rules.is_bounded) return false;
    const ElementFormat& d = rules.epilogue.output;
    return (d.is_zero(expected) && d.is_zero(actual)) || (d.is_nan(expected) && d.is_nan(actual));
}

std::string untold_by(const GemmRules& rules, const GemmOperands& operands,
                      const CodeTensor& expected, const Accepts& accepts) {
    const std::string same = "this data could not have failed: every output would pass ";
    for (const WrongGemm& wrong : wrong_gemms()) {
        if (!wrong.applies(rules) || (rules.is_bounded && !wrong.is_gross)) continue;
        const bool is_told = tells(expected, accepts, [&](const OutputPlace& place) {
            return wrong.result({rules, operands, place});
        });
        if (!is_told) return same + "where " + std::string(wrong.what);
    }
    if (rules.model == nullptr || rules.is_bounded) return "";
    std::vector<GemmModel> models;
    for (const OtherRules& other : neighbours_of(rules, models)) {
        const bool is_told = tells(expected, accepts, [&](const OutputPlace& place) {
            return std::optional(expected_result(other.rules, operands.output(place)));
        });
        if (!is_told) return same + "as " + other.what;
    }
    return "";
}

}  // namespace mx
