// See gemm_open.hpp.
#include "conformance/identify/gemm_open.hpp"

namespace mx::identify {
namespace {

constexpr std::string_view half_accumulators =
    "volta-f16-f16 ampere-f16-f16 ada-fp8-f16 mma-sync-fp8-f16 blackwell-fp8-f16";

constexpr std::array open{
    GemmOpenField{half_accumulators, "what rounds to 0", {"+0", "0 of its sign"}},
    GemmOpenField{"volta-f16-f16 ampere-f16-f16 ada-fp8-f16 hopper-fp8-f16 mma-sync-fp8-f16 "
                  "blackwell-fp8-f16",
                  "exponent floor",
                  {"none", "-21"}},
    GemmOpenField{"volta-f16-f16 ampere-f16-f16 ada-fp8-f16 mma-sync-fp8-f16 blackwell-fp8-f16",
                  "fraction bits"},
    GemmOpenField{"hopper-f16-f16", "exponent floor", {"-21", "none"}},
    GemmOpenField{"ampere-half ampere-tf32", "exponent floor", {"none", "-132"}},
    GemmOpenField{"hopper-half hopper-tf32", "exponent floor", {"-133", "-126"}},
    GemmOpenField{"blackwell-mx", "exponent floor", {"none", "-133", "-126"}},
    GemmOpenField{"blackwell-fp4", "zero products", {"left out", "counted"}},
    // Whether FP6 is as FP8: a device is asked in FP6, and the row predicts it or does not.
    GemmOpenField{"blackwell-narrow", ""},
    // How processors sum is taken as the rows have it.
    GemmOpenField{"amx-half amx-fp8 arm-fp8-dot4 arm-fp8-mmla8 arm-fp8-mlal-f16 arm-fp8-dot2-f16 "
                  "arm-fp8-mmla4-f16 rvv-fp8-vlen128 rvv-fp8-vlen256 rvv-bf16-vlen256",
                  ""},
    // They cut or flush what joins late.
    GemmOpenField{"cdna2-half cdna2-bf16-pairs cdna3-half cdna3-xf32 cdna3-fp8", ""},
};

}  // namespace

std::span<const GemmOpenField> open_fields() {
    return open;
}

std::vector<GemmOpenField> open_fields_of(const GemmModel& row) {
    std::vector<GemmOpenField> fields;
    for (const GemmOpenField& one : open)
        if (!one.field.empty() && lists(one.rows, row.name)) fields.push_back(one);
    return fields;
}

}  // namespace mx::identify
