// The kernels of exact_gemm.hpp that this processor and its operating system have.
#include <vector>

#include "reference/gemm/panels.hpp"
#include "reference/gemm/tile_residues.hpp"

#if defined(MX_GEMM_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace mx::gemm {
namespace {

#if defined(MX_GEMM_AMX)
// What a tile multiplier multiplies, as bits of the processor's word about itself.
constexpr unsigned bf16_tiles = 1u << 22, int8_tiles = 1u << 25;

// Linux gives a process the registers of tiles only when it asks for them.
bool has_amx(unsigned what) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned tiles = 1u << 24;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
    if ((d & what) == 0 || (d & tiles) == 0 || !__builtin_cpu_supports("avx512f")) return false;
    constexpr long request_permission = 0x1023, tile_data = 18;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}
#endif

std::vector<Kernel> kernels_here() {
    std::vector<Kernel> found;
#if defined(MX_GEMM_AMX)
    const bool has_vectors =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512ifma") &&
        __builtin_cpu_supports("avx512vnni");
    const auto add_residues = [&found](const char* name, const ResidueLoops& loops) {
        found.push_back({name, residue_rows, residue_rows, 0, 0, nullptr, &loops});
    };
    if (has_vectors && has_amx(int8_tiles)) add_residues("amx residues", amx_residues);
    if (has_vectors) add_residues("vnni residues", vnni_residues);
    if (has_amx(bf16_tiles)) {
        found.push_back({"amx 1 part", 16, 16, 1, 9, run_amx_1x9});
        found.push_back({"amx 2 parts", 16, 16, 2, 9, run_amx_2x9});
        found.push_back({"amx 4 parts", 16, 16, 4, 8, run_amx_4x8});
    }
#endif
#if defined(MX_GEMM_X86)
    if (__builtin_cpu_supports("avx512f"))
        found.push_back({"avx512", 8, 24, 0, 0, run_doubles_avx512});
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        found.push_back({"avx2", 4, 12, 0, 0, run_doubles_avx2});
#endif
    found.push_back({"portable", 4, 6, 0, 0, run_doubles_portable});
    return found;
}

const Kernel* find_beside(const ScaledRow& a, const ScaledRow& b) {
    for (const Kernel& kernel : kernels())
        if (kernel.residues == nullptr && takes(kernel, a, b)) return &kernel;
    return nullptr;
}

}  // namespace

std::span<const Kernel> kernels() {
    static const std::vector<Kernel> here = kernels_here();
    return here;
}

// There is one: what takes rows by their residues asks for it.
const Kernel& kernel_beside(const Factors& factors) {
    const Kernel* found = find_beside(factors.a.front(), factors.b.front());
    MX_ASSERT(found != nullptr);
    return *found;
}

bool takes(const Kernel& kernel, const ScaledRow& a, const ScaledRow& b) {
    for (const ScaledRow* row : {&a, &b}) {
        const bool is_e8m0 = row->block != 0 && row->scale.name == formats::e8m0.name;
        const bool is_ue4m3 = row->block != 0 && row->scale.name == ue4m3.name;
        if (row->codes.width != 1 || row->element.code_bits() > 8) return false;
        if (row->block != 0 && !is_e8m0 && !is_ue4m3) return false;
        if (kernel.parts != 0 &&
            (is_ue4m3 || kernel.parts * kernel.part_bits < span_of(*row).digits))
            return false;
        if (kernel.residues != nullptr && is_ue4m3) return false;
    }
    if (kernel.residues != nullptr) return find_beside(a, b) != nullptr;
    return kernel.parts != 0 || chain_of(a, b).interval != 0;
}

const Kernel* find_kernel(const ScaledRow& a, const ScaledRow& b) {
    for (const Kernel& kernel : kernels())
        if (takes(kernel, a, b)) return &kernel;
    return nullptr;
}

}  // namespace mx::gemm
