// See gemm_cases.hpp.
#include "conformance/selftest/gemm_cases.hpp"

#include <algorithm>
#include <array>

#include "conformance/data/gemm_tensors.hpp"

namespace mx::selftest {
namespace {

// Factors and the row of reference/spec/gemm_models.hpp that the base follows for them.
constexpr std::string_view mx_rows = " model=blackwell-mx ";
constexpr std::string_view fp8_rows = " model=hopper-fp8-promoted ";

struct OwnCase {
    std::string_view factors;
    std::string_view model;
    std::string_view rest;
};
constexpr std::string_view mx = "gemm a=mxfp8-e4m3 b=mxfp8-e4m3";
constexpr std::string_view mixed_mx = "gemm a=mxfp8-e4m3 b=mxfp8-e5m2";
constexpr std::string_view fp8 = "gemm a=e4m3:tensor b=e4m3:tensor";
constexpr std::string_view mixed_fp8 = "gemm a=e5m2 b=e4m3";
constexpr std::string_view fnuz = "gemm a=e5m2fnuz b=e5m2fnuz";
constexpr std::string_view mixed_fnuz = "gemm a=e5m2fnuz b=e4m3fnuz";
constexpr std::string_view fnuz_row = " model=cdna3-fp8 ";
constexpr std::string_view bf16 = "gemm a=bf16 b=bf16";
constexpr std::string_view f16 = "gemm a=f16 b=f16";
constexpr std::string_view half_row = " model=cdna2-half ";

constexpr std::array own_cases{
    OwnCase{mx, mx_rows, "shape=20x12x176 data=gemm.middle"},
    OwnCase{mx, mx_rows, "shape=20x12x160 data=gemm.uniform seed=1"},
    OwnCase{mx, mx_rows, "shape=24x12x96 data=gemm.small"},
    OwnCase{mx, mx_rows, "shape=24x12x160 data=gemm.cancelling alpha=1.7 beta=-0.3"},
    OwnCase{mx, mx_rows, "shape=24x12x160 data=gemm.positive beta=1"},
    OwnCase{mx, mx_rows, "shape=12x20x96 data=gemm.middle batches=2 beta=1 alpha=0.7"},
    OwnCase{mx, mx_rows, "shape=136x12x160 data=gemm.middle scales=128x4"},
    OwnCase{mx, mx_rows, "shape=24x20x96 data=gemm.dominant"},
    OwnCase{mx, mx_rows, "shape=20x12x160 data=gemm.zero-rows alpha=-0.7"},
    OwnCase{mx, mx_rows, "shape=24x12x64 data=gemm.middle epilogue=bias-relu alpha=-1.7"},
    OwnCase{mixed_mx, mx_rows, "shape=20x12x160 data=gemm.uniform"},
    OwnCase{mixed_mx, mx_rows, "shape=24x24x160 data=gemm.special epilogue=relu"},
    OwnCase{mixed_mx, mx_rows, "shape=24x24x160 data=gemm.special beta=1"},
    OwnCase{mixed_mx, mx_rows, "shape=24x12x176 data=gemm.zero-beside"},
    OwnCase{mx, mx_rows, "shape=40x80x160 data=gemm.middle output=mxfp8-e4m3 dialect=nv"},
    OwnCase{mixed_mx, mx_rows, "shape=40x72x96 data=gemm.uniform output=mxfp8-e5m2 dialect=ocp"},
    OwnCase{mx, mx_rows, "shape=40x80x160 data=gemm.middle output=nvfp4 packing=low_first"},
    OwnCase{"gemm a=mxfp6-e3m2 b=mxfp6-e2m3", mx_rows, "shape=20x12x480 data=gemm.uniform"},
    OwnCase{"gemm a=mxfp4-e2m1 b=mxfp8-e4m3", mx_rows, "shape=20x12x320 data=gemm.uniform"},
    OwnCase{fp8, fp8_rows, "shape=20x12x304 data=gemm.middle alpha=1.7"},
    OwnCase{fp8, fp8_rows, "shape=20x12x304 data=gemm.middle alpha=1.1 seed=1"},
    OwnCase{fp8, fp8_rows, "shape=20x12x304 data=gemm.middle alpha=1.3 seed=2"},
    OwnCase{fp8, fp8_rows, "shape=20x12x304 data=gemm.middle alpha=0.9 seed=3"},
    OwnCase{fp8, fp8_rows, "shape=40x28x304 data=gemm.middle output=bf16"},
    OwnCase{mixed_fp8, fp8_rows, "shape=20x12x304 data=gemm.middle alpha=1e-39"},
    OwnCase{fp8, fp8_rows, "shape=20x12x400 data=gemm.uniform beta=1"},
    OwnCase{fp8, fp8_rows, "shape=24x12x304 data=gemm.positive output=bf16 epilogue=bias"},
    OwnCase{fp8, fp8_rows, "shape=24x12x304 data=gemm.cancelling beta=-0.3 alpha=1.7"},
    OwnCase{fp8, fp8_rows, "shape=24x12x128 data=gemm.zero-beside"},
    OwnCase{fp8, fp8_rows, "shape=24x12x304 data=gemm.dominant batches=2"},
    OwnCase{fp8, fp8_rows, "shape=24x12x304 data=gemm.middle output=bf16 alpha=1.7"},
    OwnCase{fp8, fp8_rows, "shape=24x12x304 data=gemm.middle epilogue=relu beta=0.7 alpha=1.7"},
    OwnCase{fp8, fp8_rows, "shape=64x64x48 data=gemm.middle epilogue=gelu alpha=0.125"},
    OwnCase{fp8, fp8_rows, "shape=24x24x48 data=gemm.middle epilogue=bias-gelu output=bf16"},
    OwnCase{fnuz, fnuz_row, "shape=20x12x176 data=gemm.uniform"},
    OwnCase{fnuz, fnuz_row, "shape=24x12x99 data=gemm.cancelling beta=-0.3 alpha=1.7"},
    OwnCase{mixed_fnuz, fnuz_row, "shape=20x12x176 data=gemm.uniform"},
    OwnCase{mixed_fnuz, fnuz_row, "shape=24x24x160 data=gemm.special beta=1"},
    OwnCase{bf16, half_row, "shape=20x12x99 data=gemm.middle"},
    OwnCase{bf16, half_row, "shape=20x12x163 data=gemm.uniform"},
    OwnCase{bf16, half_row, "shape=24x12x102 data=gemm.cancelling beta=-0.3 alpha=1.7"},
    OwnCase{f16, half_row, "shape=24x12x98 data=gemm.small"},
    OwnCase{bf16, half_row, "shape=24x24x96 data=gemm.special beta=1"},
};

std::string text_of(const OwnCase& own) {
    return std::string(own.factors).append(own.model).append(own.rest);
}

template <typename Value>
bool is_one_of(const Value& value, std::initializer_list<Value> values) {
    return std::ranges::find(values, value) != values.end();
}

bool is_fnuz(const FactorType& factor) {
    return is_one_of(factor.element, {formats::e4m3fnuz, formats::e5m2fnuz});
}
bool is_half(const FactorType& factor) {
    return is_one_of(factor.element, {formats::bf16, formats::f16});
}

// Of BF16 and F16 what a machine without subnormals computes, which the base is there, hangs on its
// model.
bool are_factors_known(const GemmProblem& gemm) {
    if (gemm.a.scaling != gemm.b.scaling) return false;
    if (is_half(gemm.a) && gemm.a == gemm.b) return gemm.model.row != nullptr;
    if (is_fnuz(gemm.a) && is_fnuz(gemm.b))
        return is_one_of(gemm.a.scaling, {FactorScaling::none, FactorScaling::tensor});
    const bool is_mx = gemm.a.scaling == FactorScaling::e8m0_1x32;
    for (const ElementFormat& element : {gemm.a.element, gemm.b.element}) {
        const bool is_fp8 = is_one_of(element, {formats::e4m3, formats::e5m2});
        const bool is_narrow =
            is_fp8 || is_one_of(element, {formats::e3m2, formats::e2m3, formats::e2m1});
        if (is_mx ? !is_narrow : !is_fp8) return false;
    }
    return is_mx || is_one_of(gemm.a.scaling, {FactorScaling::none, FactorScaling::tensor});
}

bool is_its_model(const GemmProblem& gemm) {
    const bool is_mx = gemm.a.scaling == FactorScaling::e8m0_1x32;
    const bool is_fast = gemm.accumulation == Accumulation::fast;
    const std::string_view row = is_mx             ? "blackwell-mx"
                                 : is_half(gemm.a) ? "cdna2-half"
                                 : is_fnuz(gemm.a) ? "cdna3-fp8"
                                 : is_fast         ? "hopper-fp8"
                                                   : "hopper-fp8-promoted";
    return gemm.model.row == nullptr || gemm.model == ModelChoice{find_gemm_model(row), false};
}

bool is_packing_known(const Case& c) {
    return c.packing == &packing_rows::bytes || c.packing->layout == "packed-low";
}

// They take their time over each product, and would end as hanging.
bool is_small(const Case& c) {
    return element_count(c) <= 1 << 18;
}

bool is_output_known(const Case& c) {
    const GemmProblem& gemm = c.gemm;
    if (has_output_blocks(c))
        return is_one_of<std::string>(dialect_name(c), {"ocp", "nv", "cublaslt-nvfp4"}) &&
               (!gemm.c || *gemm.c == formats::bf16);
    return is_one_of(gemm.output.element, {formats::f32, formats::bf16, formats::f16}) &&
           (!gemm.c || *gemm.c == gemm.output.element);
}

}  // namespace

bool gemm_bugs_answer(const Case& c) {
    const GemmProblem& gemm = c.gemm;
    return is_gemm(c) && are_factors_known(gemm) && is_its_model(gemm) && is_output_known(c) &&
           gemm.algorithm == "default" &&
           is_one_of(c.scales, {ScaleStorage::linear, ScaleStorage::tiles_128x4}) &&
           is_packing_known(c) && is_small(c);
}

bool is_gemm_bug_asked(const Subject& bug, const Case& c) {
    const auto shows_on = [&bug](std::string_view place) {
        return bug.shows_on.starts_with(place);
    };
    if (shows_on("bounded:")) return c.gemm.model.is_bounded;
    if (shows_on("cdna2:")) return is_half(c.gemm.a);
    if (shows_on("cdna3:")) return is_fnuz(c.gemm.a);
    return !c.gemm.model.is_bounded && !is_half(c.gemm.a) && !is_fnuz(c.gemm.a);
}

Expected<std::vector<LevelCases>> plan_gemm(const std::string& level, Sources& sources) {
    auto plan = plan_by_level({level, {}, Work::gemm}, sources);
    if (!plan) return plan.error();
    for (LevelCases& added : plan.value())
        std::erase_if(added.cases,
                      [](const PlannedCase& planned) { return !gemm_bugs_answer(planned.c); });
    std::vector<PlannedCase> cases;
    for (const OwnCase& own : own_cases) {
        auto c = parse_case(text_of(own));
        if (!c) return c.error();
        cases.push_back({"selftest", std::move(c).value()});
    }
    std::vector<PlannedCase>& last = plan.value().back().cases;
    last.insert(last.begin(), cases.begin(), cases.end());
    return plan;
}

}  // namespace mx::selftest
