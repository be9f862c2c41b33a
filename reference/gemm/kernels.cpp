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

Kernel rounded(const char* name, int rows, int columns, const RoundedLoops& loops) {
    return {name, rows, columns, 0, 0, nullptr, nullptr, &loops};
}

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

Kernel residues(const char* name, const ResidueLoops& loops) {
    return {name, residue_rows, residue_rows, 0, 0, nullptr, &loops};
}

// Byte products of AVX-512 or of tiles, which share what is done beside them.
bool has_residues() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512ifma") &&
           __builtin_cpu_supports("avx512vnni");
}
#endif

#if defined(MX_GEMM_X86)
// Residues by tiles are quicker than sums that round wherever few moduli will do; way_of asks those
// where many would be needed. All else is slower, so that rounded sums stand before it.
void add_avx512(std::vector<Kernel>& found) {
    if (!__builtin_cpu_supports("avx512f")) return;
#if defined(MX_GEMM_AMX)
    if (has_residues() && has_amx(int8_tiles))
        found.push_back(residues("amx residues", amx_residues));
#endif
    found.push_back(rounded("avx512 rounded", 8, 24, rounded_avx512));
#if defined(MX_GEMM_AMX)
    if (has_residues()) found.push_back(residues("vnni residues", vnni_residues));
    if (has_amx(bf16_tiles)) {
        found.push_back({"amx 1 part", 16, 16, 1, 9, run_amx_1x9});
        found.push_back({"amx 2 parts", 16, 16, 2, 9, run_amx_2x9});
        found.push_back({"amx 4 parts", 16, 16, 4, 8, run_amx_4x8});
    }
#endif
    found.push_back({"avx512", 8, 24, 0, 0, run_doubles_avx512});
}
#endif

std::vector<Kernel> kernels_here() {
    std::vector<Kernel> found;
#if defined(MX_GEMM_X86)
    add_avx512(found);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        found.push_back(rounded("avx2 rounded", 4, 12, rounded_avx2));
        found.push_back({"avx2", 4, 12, 0, 0, run_doubles_avx2});
    }
#endif
    found.push_back(rounded("portable rounded", 4, 6, rounded_portable));
    found.push_back({"portable", 4, 6, 0, 0, run_doubles_portable});
    return found;
}

const Kernel* find_beside(const ScaledRow& a, const ScaledRow& b) {
    for (const Kernel& kernel : kernels())
        if (kernel.run != nullptr && takes(kernel, a, b)) return &kernel;
    return nullptr;
}

const Kernel* first_exact(std::span<const Kernel> kernels, const Factors& factors) {
    for (const Kernel& kernel : kernels)
        if (kernel.rounded == nullptr && takes(kernel, factors.a.front(), factors.b.front()))
            return &kernel;
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

const Kernel* find_rounded(const Factors& factors) {
    for (const Kernel& kernel : kernels())
        if (kernel.rounded != nullptr && takes(kernel, factors.a.front(), factors.b.front()))
            return &kernel;
    return nullptr;
}

const Kernel& kernel_after(const Kernel& rounded, const Factors& factors) {
    const std::span<const Kernel> all = kernels();
    const auto index = static_cast<std::size_t>(&rounded - all.data());
    const bool has_amx_residues = all.front().residues != nullptr;
    const Kernel* found = has_amx_residues ? nullptr : first_exact(all.subspan(index), factors);
    if (found == nullptr) found = first_exact(all, factors);
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
    if (kernel.run == nullptr) return find_beside(a, b) != nullptr;
    return kernel.parts != 0 || chain_of(a, b).interval != 0;
}

const Kernel* find_kernel(const ScaledRow& a, const ScaledRow& b) {
    for (const Kernel& kernel : kernels())
        if (takes(kernel, a, b)) return &kernel;
    return nullptr;
}

}  // namespace mx::gemm
