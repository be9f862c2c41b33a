// Tests of the grammar of GEMM cases: what prints parses back to itself, and what is wrong is
// named.
#include <gtest/gtest.h>

#include "conformance/case/case.hpp"
#include "conformance/case/gemm_case.hpp"
#include "conformance/case/test/parsed.hpp"

namespace mx {
namespace {

std::string refused(const std::string& text) {
    const auto c = parse_case(text);
    EXPECT_FALSE(c.ok()) << text;
    return c ? "" : c.error().message;
}

TEST(GemmGrammar, FullLinesPrintBackToThemselves) {
    for (const std::string text : {
             "gemm a=mxfp8-e4m3 b=mxfp8-e5m2 output=f32 shape=64x32x256 batches=1 alpha=1 beta=0 "
             "c=none epilogue=none accumulation=default algorithm=default model=any layout=dense "
             "scales=linear packing=bytes data=gemm.exact-signs index=0 seed=0",
             "gemm a=nvfp4 b=nvfp4 output=bf16 shape=1x1x1 batches=3 alpha=-1.23 beta=0.77 c=bf16 "
             "epilogue=bias-relu accumulation=fast algorithm=id=66,tile=3,splitk=4 model=bounded "
             "layout=padded scales=128x4 packing=low_first data=gemm.uniform "
             "index=18446744073709551615 seed=5",
             "gemm a=e4m3:1x128 b=e5m2:128x128 output=f16 shape=3x5x7 batches=1 alpha=0x7fc00000 "
             "beta=1e-45 c=f16 epilogue=none accumulation=default algorithm=default "
             "model=hopper-fp8-128x128 layout=dense scales=linear packing=bytes data=gemm.special "
             "index=0 seed=0",
             "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 output=mxfp8-e5m2 dialect=cublaslt shape=3x5x7 "
             "batches=1 alpha=1 beta=1 c=bf16 epilogue=none accumulation=default "
             "algorithm=default model=blackwell-mx layout=dense scales=128x4 packing=bytes "
             "data=gemm.middle index=0 seed=0",
             "gemm a=nvfp4 b=nvfp4 output=nvfp4 dialect=cublaslt-nvfp4 shape=3x5x7 batches=1 "
             "alpha=1 beta=1 c=f16 epilogue=none accumulation=default algorithm=default "
             "model=any layout=dense scales=128x4 packing=low_first data=gemm.exact-signs "
             "index=0 seed=0",
             "gemm a=e4m3:tensor b=e4m3:tensor output=e4m3 shape=3x5x7 batches=1 alpha=-0 "
             "beta=0xff800000 c=f16 epilogue=relu accumulation=default algorithm=default "
             "model=bounded:hopper-fp8 layout=dense scales=linear packing=bytes data=gemm.zeros "
             "index=0 seed=0",
             "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 output=f32 shape=12x5x64 batches=1 groups=0+3+0+7 "
             "alpha=1 beta=0 c=none epilogue=none accumulation=default algorithm=default "
             "model=any layout=dense scales=128x4 packing=bytes data=gemm.exact-signs index=0 "
             "seed=0",
         })
        EXPECT_EQ(print(parsed(text)), text);
}

TEST(GemmGrammar, EveryNameOfEveryTablePrintsBack) {
    const auto holds = [](const std::string& fields) {
        const Case c = parsed("gemm shape=16x16x256 data=gemm.middle " + fields);
        EXPECT_EQ(parsed(print(c)), c) << fields;
    };
    for (const std::string& name : gemm_factor_names()) holds("a=" + name + " b=" + name);
    for (const std::string& name : gemm_output_names()) holds("a=bf16 b=bf16 output=" + name);
    for (const std::string& name : gemm_epilogue_names()) holds("a=f16 b=f16 epilogue=" + name);
    for (const std::uint32_t bits : {0x00000001u, 0x7F7FFFFFu, 0x3EAAAAABu, 0x80000000u,
                                     0xFFC00001u, 0x7F800000u, 0x00800000u, 0xCB18967Fu}) {
        Case c = parsed("gemm a=bf16 b=bf16 shape=1x1x1 data=gemm.middle beta=1");
        c.gemm.beta = bits == 0x80000000u ? 0x3F800000u : bits;
        c.gemm.alpha = bits;
        EXPECT_EQ(parsed(print(c)), c) << print(c);
    }
}

TEST(GemmGrammar, LeavesOutWhatHasADefault) {
    const Case c = parsed(
        "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 shape=64x32x256 batches=2 beta=0.5 "
        "output=bf16 data=gemm.one-hot");
    EXPECT_EQ(c.gemm.c, formats::bf16);
    EXPECT_EQ(c.rows, 128);
    EXPECT_EQ(c.columns, 32);
    EXPECT_EQ(format_name(c), "mxfp8-e4m3");
    EXPECT_EQ(c.gemm.alpha, 0x3F800000u);
    EXPECT_EQ(parsed("gemm a=f32 b=f32 shape=1x1x1 output=e4m3 beta=1 data=gemm.zeros").gemm.c,
              formats::bf16);
    const Case grouped = parsed("gemm a=bf16 b=bf16 shape=9x4x8 groups=2+0+5 data=gemm.zeros");
    EXPECT_EQ(grouped.gemm.offsets(), (std::vector<std::int64_t>{0, 2, 2, 7}));
    EXPECT_EQ(grouped.rows, 7);
    EXPECT_EQ(grouped.gemm.rows_of_b(), 12);
    const Case fp4 = parsed("gemm a=bf16 b=bf16 shape=1x1x1 output=nvfp4 beta=1 data=gemm.zeros");
    EXPECT_EQ(dialect_name(fp4), "cublaslt-nvfp4");
    EXPECT_EQ(fp4.gemm.c, formats::bf16);
    EXPECT_FALSE(is_gemm(parsed("convert format=e4m3 shape=1x1 data=all.bits")));
    EXPECT_TRUE(is_gemm(c));
}

TEST(GemmGrammar, SaysWhatIsWrong) {
    struct Bad {
        const char* fields;
        const char* says;
    };
    for (const Bad& bad : std::initializer_list<Bad>{
             {"b=bf16 shape=1x1x1", "the case has no a="},
             {"a=bf16 shape=1x1x1", "the case has no b="},
             {"a=bf16 b=bf16", "the case has no shape=MxNxK"},
             {"a=bf16 b=bf16 shape=4x4", "is not of the form MxNxK"},
             {"a=bf16 b=bf16 shape=4x4x4x4", "is not of the form MxNxK"},
             {"a=bf16 b=bf16 shape=0x4x4", "not from 1 to 2^20"},
             {"a=bf16 b=bf16 shape=4x4x1048577", "not from 1 to 2^20"},
             {"a=mxfp8-e4m2 b=bf16 shape=1x1x1", "did you mean 'mxfp8-e4m3'?"},
             {"a=e4m3:col b=bf16 shape=1x1x1", "unknown factor 'e4m3:col'"},
             {"a=bf16:row b=bf16 shape=1x1x1", "unknown factor 'bf16:row'"},
             {"a=bf16 b=bf16 shape=1x1x1 alpha=one", "alpha 'one' is no finite number"},
             {"a=bf16 b=bf16 shape=1x1x1 alpha=1e99", "alpha '1e99' is no finite number"},
             {"a=bf16 b=bf16 shape=1x1x1 alpha=0x1ffffffff", "is no finite number"},
             {"a=bf16 b=bf16 shape=1x1x1 alpha=nan", "is no finite number"},
             {"a=bf16 b=bf16 shape=1x1x1 batches=0", "not from 1 to 65536"},
             {"a=bf16 b=bf16 shape=1x1x1 beta=1 c=none", "beta is not 0"},
             {"a=bf16 b=bf16 shape=1x1x1 c=f32", "beta is 0"},
             {"a=bf16 b=bf16 shape=1x1x1 beta=1 c=bf16", "does not go with output=f32"},
             {"a=bf16 b=bf16 shape=1x1x1 model=hoper-fp8", "did you mean 'hopper-fp8'?"},
             {"a=bf16 b=bf16 shape=1x1x1 model=hopper-fp8", "multiplies e4m3 e5m2, not bf16"},
             {"a=e4m3:1x128 b=e4m3:1x128 shape=1x1x1 model=hopper-fp8",
              "says nothing of factors scaled by 1x128"},
             {"a=e4m3:row b=e4m3:tensor shape=1x1x1 model=hopper-fp8", "one factor scaled by row"},
             {"a=bf16 b=bf16 shape=1x1x1 model=bounded epilogue=gelu", "GELU has no bound"},
             {"a=bf16 b=bf16 shape=1x1x1 model=bounded:hopper-half epilogue=bias-gelu",
              "GELU has no bound"},
             {"a=bf16 b=bf16 shape=1x1x1 scales=128x4", "no scales=128x4"},
             {"a=nvfp4 b=mxfp8-e4m3 shape=1x1x1 packing=low_first", "e4m3 has 8"},
             {"a=nvfp4 b=nvfp4 shape=1x1x1 packing=inline", "no layout of a factor"},
             {"a=e4m3:128x128 b=e4m3:1x128 shape=64x64x64 batches=2", "multiples of 128"},
             {"a=bf16 b=bf16 shape=1x1x1 dialect=ocp", "no blocks, so it has no dialect=ocp"},
             {"a=bf16 b=bf16 shape=1x1x1 output=mxfp8-e4m3 dialect=thunderkittens", "of binary32"},
             {"a=bf16 b=bf16 shape=1x1x1 output=mxfp8-e4m3 model=bounded", "has no bound"},
             {"a=bf16 b=bf16 shape=1x1x1 output=mxfp6-e2m3", "unknown output"},
             {"a=bf16 b=bf16 shape=1x1x1 output=nvfp4 dialect=ocp", "does not make nvfp4"},
             {"a=bf16 b=bf16 shape=1x1x1 output=nvfp4 dialect=te-nvfp4", "unknown dialect"},
             {"a=bf16 b=bf16 shape=1x1x1 output=mxfp4-e2m1 dialect=cublaslt-nvfp4", "not make"},
             {"a=bf16 b=bf16 shape=1x1x1 output=mxfp4-e2m1 dialect=cublaslt", "not make"},
             {"a=bf16 b=bf16 shape=1x1x1 output=nvfp4 model=bounded", "has no bound"},
             {"a=bf16 b=bf16 shape=1x1x1 output=nvfp4 beta=1 c=f32", "FP8 or FP4"},
             {"a=bf16 b=bf16 shape=1x1x1 output=mxfp8-e4m3 packing=low_first", "bf16 has 16"},
             {"a=bf16 b=bf16 shape=1x1x1 outputs=f32", "did you mean 'output'?"},
             {"a=bf16 b=bf16 shape=9x1x1 groups=3,4", "is not of the form 3+0+7"},
             {"a=bf16 b=bf16 shape=9x1x1 groups=3+", "is not of the form 3+0+7"},
             {"a=bf16 b=bf16 shape=9x1x1 groups=-1", "is not of the form 3+0+7"},
             {"a=bf16 b=bf16 shape=9x1x1 groups=5+5", "the groups have 10 rows, and A has 9"},
             {"a=bf16 b=bf16 shape=9x1x1 groups=5 batches=2", "there is no batches=2"},
             {"a=bf16 b=bf16 shape=9x1x1 groups=5 output=mxfp8-e4m3", "no source says where"},
             {"a=e4m3:128x128 b=e4m3:1x128 shape=9x128x1 groups=5", "no scales of 128x128"},
             {"a=e4m3:1x128 b=e4m3:128x128 shape=9x64x1 groups=5", "multiples of 128"},
         }) {
        const std::string text = refused(std::string("gemm data=gemm.zeros ") + bad.fields);
        EXPECT_NE(text.find(bad.says), std::string::npos) << bad.fields << ": " << text;
    }
    EXPECT_NE(refused("quantize format=mxfp8-e4m3 shape=1x32 data=edge.tie a=bf16").find("'a'"),
              std::string::npos);
}

}  // namespace
}  // namespace mx
