// The one kind of call that the planted bugs of a GPU answer, read and checked. Compiled by the
// host's compiler: no bug is planted here. Knows no arithmetic and no CUDA.
#pragma once

#include <cstdint>

#include "conformance/mutants/gpu/gpu_bug.hpp"
#include "conformance/mutants/mutant_request.hpp"

namespace mx::mutants::gpu {

enum class Values { f32, bf16 };

// Element (r, c) is at data + (r * row_stride + c * column_stride) * width.
struct Plane {
    unsigned char* data = nullptr;
    std::int64_t row_stride = 0, column_stride = 0;
    std::int64_t width = 1;
};

// Quantize rows x columns values to E4M3 in blocks of 32 along rows, with the one bug.
struct Job {
    Bug bug = Bug::none;
    Values type{};
    Dialect dialect{};
    std::int64_t rows = 0, columns = 0;
    Plane values, codes, scales;

    std::int64_t blocks_of_a_row() const { return (columns + 31) / 32; }
};

// Refuses all others.
Job read_job(const kit::Arguments& arguments, kit::Buffers buffers);

}  // namespace mx::mutants::gpu
