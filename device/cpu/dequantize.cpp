// dequantize.hpp: the scalar arithmetic of one block, for what kernels leave over. Must not know
// names or instruction sets.
#include "device/cpu/dequantize.hpp"

#include "device/cpu/dequantize_kernels.hpp"
#include "device/cpu/scalar.hpp"

namespace mx::cpu {
namespace {

void dequantize_block(const BlockJob& job, const BlockPlace& place) {
    const Element element = element_of(job.recipe.element_type);
    const std::uint8_t scale = *scale_at(job, {place.line, place.lane});
    for_each_cell(place, [&](Cell cell) {
        const ScaledElement scaled{*code_at(job, cell), scale};
        store_code(job.recipe.value_type, dequantized(element, scaled, job.recipe.value_type),
                   value_at(job, cell));
    });
}

}  // namespace

void dequantize(const BlockJob& job) {
    for_each_block(job, {dequantize_run, dequantize_strip, dequantize_block});
}

}  // namespace mx::cpu
