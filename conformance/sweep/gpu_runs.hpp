// Maps from every code of an input type to a result, computed on a GPU: the fast oracle compiled
// for it, and the conversion instructions of the GPU itself. What comes back are the runs of inputs
// with one result, found on the GPU, so that a map over 2^32 inputs travels as some hundred lines.
// Must not know what is right, nor include a CUDA header.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "device/cuda/types.hpp"
#include "reference/base/status.hpp"
#include "reference/exact/preimage.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::sweep {

// fast::round, saturating in the low 32 bits of a result and overflowing in the high ones.
struct RoundMap {
    ElementFormat input;
    ElementFormat format;
    Rounding rounding;
};

// fast::encode_scale of an amax, or fast::cast_to_scale of any value.
struct ScaleMap {
    Quantizer dialect;
    BlockFormat format;
    ElementFormat input;
};
struct CastMap {
    ScaleCast cast;
    ElementFormat input;
};

// The scale rule of a kernel of device/cuda, which takes the magnitude of an f32 amax.
struct DeviceScaleMap {
    cuda::ScaleRule rule;
};

enum class Form { pair_of_f32, pair_of_f16, codes_to_f16, pair_to_e2m1 };
enum class Sign { kept, relu };

struct Instruction {
    std::string_view ptx;
    std::string_view input;
    std::string_view output;
    Form form;
    Sign sign;
    int first_architecture;  // 10 * major + minor of the compute capability
};

inline constexpr std::array instructions{
#define MX_INSTRUCTION(name, ptx, input, output, form, sign, architecture) \
    Instruction{ptx, #input, #output, Form::form, Sign::sign, architecture},
#include "conformance/sweep/instructions.def"
#undef MX_INSTRUCTION
};

// One lane of an instruction; the other lane is given other bits.
enum class Lane { low, high };
struct InstructionMap {
    std::size_t row;  // of `instructions`
    Lane lane;
};

using GpuMap = std::variant<RoundMap, ScaleMap, CastMap, DeviceScaleMap, InstructionMap>;

struct Gpu {
    std::string name;
    int architecture = 0;  // 10 * major + minor of the compute capability
};

struct GpuRuns {
    std::vector<exact::Run> runs;
    double seconds = 0;  // on the GPU
};

// Errors of the kind `system`: there is no GPU, or this build has no code for it. Of the kind
// `device`: there is one, and its driver said no.
Expected<Gpu> find_gpu();
// Over the inputs 0 .. count - 1. Only after find_gpu, for an instruction that the GPU has.
Expected<GpuRuns> gpu_runs(const GpuMap& map, std::uint64_t count);

}  // namespace mx::sweep
