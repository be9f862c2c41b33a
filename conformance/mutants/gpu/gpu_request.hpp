// The one kind of call that the planted bugs of a GPU answer, read and checked. Compiled once for
// all of them by the host's compiler: no bug is planted here. Knows no arithmetic and no CUDA.
#pragma once

#include <cstdint>

#include "conformance/mutants/mutant_request.hpp"

namespace mx::mutants::gpu {

enum class Values { f32, bf16 };

// Element (r, c) is at data + (r * row_stride + c * column_stride) * width.
struct Plane {
    unsigned char* data = nullptr;
    std::int64_t row_stride = 0, column_stride = 0;
    std::int64_t width = 1;
};

// Quantize rows x columns values to E4M3 in blocks of 32 along rows.
struct Job {
    Values type{};
    Dialect dialect{};
    std::int64_t rows = 0, columns = 0;
    Plane values, codes, scales;

    std::int64_t blocks_of_a_row() const { return (columns + 31) / 32; }
};

// Stores the sentence in the message, if there is room for one.
void say(mx_message* message, const char* sentence);

// MX_OK and a filled job, or the status to return, its sentence already in call.message.
mx_status read_job(const Call& call, Job& job);

}  // namespace mx::mutants::gpu
