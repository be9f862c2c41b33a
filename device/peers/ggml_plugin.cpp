// ggml's own C code for MXFP4: quantize_row_mxfp4_ref. A block is the byte of its scale and 16
// bytes: element j in the low half of byte j, element j + 16 in the high one.
#include <cstdint>
#include <cstdlib>

extern "C" {
#include <ggml-quants.h>
// What ggml-quants.c calls of the rest of ggml, and never here.
void ggml_abort(const char*, int, const char*, ...) {
    std::abort();
}
std::size_t ggml_row_size(ggml_type, std::int64_t) {
    std::abort();
}
std::size_t ggml_type_size(ggml_type) {
    std::abort();
}
const char* ggml_type_name(ggml_type) {
    std::abort();
}
}

#include "device/peers/native.hpp"

using namespace mx::peers;

static Answer quantized(const float* lanes) {
    block_mxfp4 block;
    quantize_row_mxfp4_ref(lanes, &block, 32);
    Answer answer{block.e, {}};
    for (int i = 0; i < 16; ++i) {
        answer.elements[i] = block.qs[i] & 15;
        answer.elements[i + 16] = block.qs[i] >> 4;
    }
    return answer;
}

static std::uint32_t scale(float amax) {
    const float lanes[32] = {amax};
    return quantized(lanes).scale;
}

constexpr Scale scales[] = {{"mxfp4-e2m1", "ggml", scale}};
constexpr Quantize quantizers[] = {{"mxfp4-e2m1", "e2m1", "ggml", quantized}};
constexpr Library library{"ggml", "ggml-org", {}, scales, quantizers};
MX_PEER(library)
