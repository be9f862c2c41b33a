// The expressions of as_written.cuh under --use_fast_math: subnormals are flushed, quotients and
// functions of math are approximated. The build compiles this file with it.
#include "device/cuda/facts/as_written.cuh"

namespace mx::cuda::facts {

Facts facts_about_fast_math() {
    constexpr std::uint64_t subnormals = 0x007FFFFF;
    return facts_as_written({
        .name = "fast",
        .by_division = {.at_0 = 0x7F800000, .at_254 = 0},
        .by_exp2 = {.at_254 = 0},
        .guarded = {.at_0 = 0, .at_254 = 0},
        .ends_by_division = ", but +Inf for b = 0 and 0 for b = 254",
        .ends_by_exp2 = ", but 0 for b = 254",
        .ends_guarded = ", but 0 for b = 0 and b = 254",
        .guarded_rows = "flashinfer",
        .e4m3_at_0 = {16769022},
        .e4m3_at_254 = {184549376},
        .e5m2_at_0 = {16777150, 0x00000021},
        .e5m2_at_254 = {301989888},
        .times_inverse = {8388605, 0x04600002},
        .over_six = {29360124, 0x00000004},
        .magnitude = {subnormals, 1},
        .floor = {7430 + subnormals, 1},
        .ceil = {3624 + 126 + subnormals, 1},
    });
}

}  // namespace mx::cuda::facts
