// From a sum of products to an element of D, each step one operation of binary32. Used by gemm.
#pragma once

#include "device/cpu/gemm.hpp"

namespace mx::cpu {

struct Place {
    std::ptrdiff_t batch;
    std::ptrdiff_t row, column;  // of the batch
};

void finish(const GemmJob& job, const Place& place, float sum);

}  // namespace mx::cpu
