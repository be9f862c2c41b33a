// The expressions of as_written.cuh under nvcc's default flags: subnormals are kept, quotients are
// rounded right.
#include "device/cuda/facts/as_written.cuh"

namespace mx::cuda::facts {

Facts facts_about_default_flags() {
    return facts_as_written({
        .name = "default",
        .by_division = {},
        .by_exp2 = {.at_254 = 0x003FFFFF},
        .guarded = {.at_0 = 0x7F800000, .at_254 = 0},
        .ends_by_division = "",
        .ends_by_exp2 = ", but 0x003FFFFF for b = 254",
        .ends_guarded = ", but +Inf for b = 0 and 0 for b = 254",
        .guarded_rows = "",
        .e4m3_at_0 = {},
        .e4m3_at_254 = {},
        .e5m2_at_0 = {},
        .e5m2_at_254 = {},
        .times_inverse = {},
        .over_six = {},
        .magnitude = {},
        .floor = {7456},
        .ceil = {3700},
    });
}

}  // namespace mx::cuda::facts
