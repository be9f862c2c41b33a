// The dot products of Bochs, the simulator of x86: its own code of TDPBF16PS, TDPFP16PS, TDPBF8PS,
// TDPHF8PS, TDPBHF8PS, TDPHBF8PS (AMX), VDPBF16PS and VDPPHPS, each instruction run on registers
// that hold one row of A and one of B. What that code names of Bochs's processor stands here, as
// far as it is needed to compile: the files "bochs.h", "cpu.h" and "config.h" that it includes are
// empty.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "device/peers/products.hpp"

using Bit8u = std::uint8_t;
using Bit16u = std::uint16_t;
using Bit32u = std::uint32_t;
using Bit64u = std::uint64_t;
using Bit8s = std::int8_t;
using Bit16s = std::int16_t;
using Bit32s = std::int32_t;
using Bit64s = std::int64_t;
using bx_address = Bit64u;

#define BX_SUPPORT_AMX 1
#define BX_SUPPORT_AVX 1
#define BX_SUPPORT_EVEX 1
#define BX_CPP_AttrRegparmN(count)
#define BX_CPP_AlignN(bytes) alignas(bytes)
#define BX_CPU_THIS_PTR this->
#define BX_NEXT_INSTR(i) return
#define BX_ERROR(words)
#define BX_PANIC(words)
#define BX_CPU_RESOLVE_ADDR(i) 0
#define BX_CPU_RESOLVE_ADDR_64(i) 0
#define BX_READ_64BIT_REG(index) \
    Bit64u {                     \
        0                        \
    }
#define BX_READ_16BIT_OPMASK(index) \
    Bit16u {                        \
        0                           \
    }
#define BX_READ_32BIT_OPMASK(index) \
    Bit32u {                        \
        0                           \
    }
#define CUT_OPMASK_TO(count) ((1u << (count)) - 1)
#define MXCSR \
    bx_mxcsr_t {}
enum {
    BX_GP_EXCEPTION,
    BX_UD_EXCEPTION,
    BX_NIL_REGISTER,
    BX_VECTOR_TMP_REGISTER,
    BX_VL128 = 1,
    BX_VL256 = 2,
    BX_VL512 = 4,
    EFlagsOFMask = 1,
    EFlagsSFMask = 2,
    EFlagsPFMask = 4,
    EFlagsCFMask = 8,
    EFlagsZFMask = 16,
};

// An instruction without mask, on registers of 512 bits.
struct bxInstruction_c {
    unsigned to, from_1, from_2;
    unsigned dst() const { return to; }
    unsigned src() const { return from_1; }
    unsigned src1() const { return from_1; }
    unsigned src2() const { return from_2; }
    unsigned opmask() const { return 0; }
    bool isZeroMasking() const { return false; }
    unsigned getVL() const { return BX_VL512; }
    void setVL(unsigned) {}
    unsigned Ib() const { return 0; }
    unsigned seg() const { return 0; }
    unsigned sibBase() const { return 0; }
    unsigned sibIndex() const { return 0; }
    unsigned sibScale() const { return 0; }
    unsigned displ32s() const { return 0; }
    unsigned getIaOpcode() const { return 0; }
    const char* getIaOpcodeNameShort() const { return ""; }
};

#define BX_SUPPORT_FPU 1
#include <softfloat.h>

#include <cpu/xmm.h>

struct AMX;

struct BX_CPU_C {
    bx_zmm_reg_t vmm[4];
    AMX* amx;
    unsigned maxvl;

    using Instruction = bxInstruction_c*;
    bool configure_tiles(Instruction, const BxPackedAvxRegister&);
    void check_tile(Instruction, unsigned);
    void check_tiles(Instruction, unsigned, unsigned, unsigned);
    void LDTILECFG(Instruction), STTILECFG(Instruction), TILERELEASE(Instruction);
    void TILELOADD_TnnnMdq(Instruction), TILESTORED_MdqTnnn(Instruction);
    void TILEZERO_Tnnn(Instruction);
    void TDPBSSD_TnnnTrmTreg(Instruction), TDPBSUD_TnnnTrmTreg(Instruction);
    void TDPBUSD_TnnnTrmTreg(Instruction), TDPBUUD_TnnnTrmTreg(Instruction);
    void TDPBF16PS_TnnnTrmTreg(Instruction), TDPFP16PS_TnnnTrmTreg(Instruction);
    void TCMMRLFP16PS_TnnnTrmTreg(Instruction), TCMMIMFP16PS_TnnnTrmTreg(Instruction);
    void TDPBF8PS_TnnnTrmTreg(Instruction), TDPHF8PS_TnnnTrmTreg(Instruction);
    void TDPBHF8PS_TnnnTrmTreg(Instruction), TDPHBF8PS_TnnnTrmTreg(Instruction);
    void VCVTNEPS2BF16_MASK_VphWpsR(Instruction), VCVTNE2PS2BF16_MASK_VphHpsWpsR(Instruction);
    void VDPBF16PS_MASK_VpsHdqWdqR(Instruction), VDPPHPS_MASK_VpsHdqWdqR(Instruction);
    void VBCSTNEBF162PS_VpsWwM(Instruction), VBCSTNESH2PS_VpsWshM(Instruction);
    void VCVTNEEBF162PS_VpsWphR(Instruction), VCVTNEOBF162PS_VpsWphR(Instruction);
    void VCVTNEEPH2PS_VpsWphR(Instruction), VCVTNEOPH2PS_VpsWphR(Instruction);
    void VCVTNEPS2BF16_VphWpsR(Instruction);
    void VMOVW_VshWshR(Instruction), VMOVD_VdWdR(Instruction);
    void VCOMXSS_VssWssR(Instruction), VCOMXSD_VsdWsdR(Instruction), VCOMXSH_VshWshR(Instruction);
    void VMPSADBW_MASK_VdqHdqWdqIbR(Instruction);
    void write_eflags_vcomx(int);

    // Of other instructions than those that are run.
    void exception(int, int) {}
    void setEFlagsOSZAPC(unsigned) {}
    void clearEFlagsOSZAPC() {}
    void check_exceptionsSSE(int) {}
    Bit16u read_virtual_word(unsigned, Bit64u) { return 0; }
    Bit64u get_laddr64(unsigned, Bit64u) { return 0; }
    void read_linear_zmmword(unsigned, Bit64u, BxPackedAvxRegister*) {}
    void write_linear_zmmword(unsigned, Bit64u, BxPackedAvxRegister*) {}
    void avx_masked_load32(Instruction, Bit64u, BxPackedAvxRegister*, Bit32u) {}
    void avx_masked_store32(Instruction, Bit64u, BxPackedAvxRegister*, Bit32u) {}
    void xsave_tilecfg_state(Instruction, Bit64u) {}
    void avx512_write_regw_masked(Instruction, const BxPackedAvxRegister*, unsigned, Bit32u) {}
};

#include <cpu/avx/amx.cc>
#include <cpu/avx/avx10_2_misc.cc>
#include <cpu/avx/avx512_bf16.cc>
#include <cpu/avx/avx_ne_convert.cc>

// What other instructions would ask for.
softfloat_status_t mxcsr_to_softfloat_status_word(bx_mxcsr_t) {
    return {};
}
void softfloat_status_word_rc_override(softfloat_status_t&, bxInstruction_c*) {}

namespace {

using namespace mx::peers;
using Handler = void (BX_CPU_C::*)(bxInstruction_c*);

// `bytes`: of a factor. Each instruction takes 64 bytes along K, one of the last as many as are
// left of it in whole words of 32 bits.
template <Handler handler, int bytes>
std::uint32_t tiles(const Codes& a, const Codes& b) {
    constexpr std::size_t in_word = 4 / bytes, in_tile = 64 / bytes;
    AMX amx;
    BX_CPU_C cpu{{}, &amx};
    amx.clear();
    amx.palette_id = 1;
    for (std::size_t first = 0; first < a.size(); first += in_tile) {
        const std::size_t count = std::min(in_tile, a.size() - first);
        const auto words = static_cast<unsigned>((count + in_word - 1) / in_word);
        const unsigned rows[3] = {1, 1, words}, bytes_per_row[3] = {4, 4 * words, 4};
        for (int tile = 0; tile < 3; ++tile) {
            amx.tilecfg[tile].rows = rows[tile];
            amx.tilecfg[tile].bytes_per_row = bytes_per_row[tile];
        }
        amx.tile[1].clear();
        amx.tile[2].clear();
        for (std::size_t k = 0; k < count; ++k) {
            std::memcpy(&amx.tile[1].row[0].zmm_ubyte[k * bytes], &a[first + k], bytes);
            std::memcpy(&amx.tile[2].row[k / in_word].zmm_ubyte[k % in_word * bytes], &b[first + k],
                        bytes);
        }
        bxInstruction_c instruction{0, 1, 2};
        (cpu.*handler)(&instruction);
    }
    return amx.tile[0].row[0].vmm32u(0);
}

// One pair of factors of 16 bits each time.
template <Handler handler>
std::uint32_t pairs(const Codes& a, const Codes& b) {
    BX_CPU_C cpu{};
    for (std::size_t k = 0; k < a.size(); k += 2) {
        for (std::size_t i = 0; i < 2; ++i) {
            cpu.vmm[1].vmm16u(i) = static_cast<Bit16u>(k + i < a.size() ? a[k + i] : 0);
            cpu.vmm[2].vmm16u(i) = static_cast<Bit16u>(k + i < b.size() ? b[k + i] : 0);
        }
        bxInstruction_c instruction{0, 1, 2};
        (cpu.*handler)(&instruction);
    }
    return cpu.vmm[0].vmm32u(0);
}

constexpr std::array<DotProduct, 8> dots{{
    {"bf16", "bf16", "f32", "vdpbf16ps", pairs<&BX_CPU_C::VDPBF16PS_MASK_VpsHdqWdqR>},
    {"f16", "f16", "f32", "vdpphps", pairs<&BX_CPU_C::VDPPHPS_MASK_VpsHdqWdqR>},
    {"bf16", "bf16", "f32", "tdpbf16ps", tiles<&BX_CPU_C::TDPBF16PS_TnnnTrmTreg, 2>},
    {"f16", "f16", "f32", "tdpfp16ps", tiles<&BX_CPU_C::TDPFP16PS_TnnnTrmTreg, 2>},
    {"e5m2", "e5m2", "f32", "tdpbf8ps", tiles<&BX_CPU_C::TDPBF8PS_TnnnTrmTreg, 1>},
    {"e4m3", "e4m3", "f32", "tdphf8ps", tiles<&BX_CPU_C::TDPHF8PS_TnnnTrmTreg, 1>},
    {"e5m2", "e4m3", "f32", "tdpbhf8ps", tiles<&BX_CPU_C::TDPBHF8PS_TnnnTrmTreg, 1>},
    {"e4m3", "e5m2", "f32", "tdphbf8ps", tiles<&BX_CPU_C::TDPHBF8PS_TnnnTrmTreg, 1>},
}};
constexpr Products products{"Bochs, dot products", "The Bochs Project", MX_PEER_SOURCE, dots};

}  // namespace

MX_PEER_PRODUCTS(products)
