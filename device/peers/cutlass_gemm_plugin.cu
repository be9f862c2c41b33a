// CUTLASS's GEMM kernels for Hopper: what the collective builder makes of types, tile and schedule,
// as examples 49, 54 and 67 use it. The epilogue is the one that asks nothing of the rows of D.
#include <cutlass/cutlass.h>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

#include "device/peers/native_gemm.hpp"

using namespace cutlass::gemm;
using cute::_1, cute::_64, cute::_128, cute::Shape, cute::GMMA::Major;
using cutlass::layout::ColumnMajor, cutlass::layout::RowMajor;
using mx::peers::Buffer, mx::peers::Problem;
using E4 = cutlass::float_e4m3_t;
using E5 = cutlass::float_e5m2_t;
using Half = cutlass::half_t;
using Bf16 = cutlass::bfloat16_t;
using Tf32 = cutlass::tfloat32_t;

template <class A, class B, class Accumulator, class D, class Schedule, class Tile,
          class LayoutA = RowMajor, class LayoutB = ColumnMajor, int bytes = 16>
struct Kernel {
    using Cluster = Shape<_1, _1, _1>;
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, Accumulator, float, D, RowMajor, 1, D,
        RowMajor, 1, cutlass::epilogue::NoSmemWarpSpecialized>::CollectiveOp;
    using Stages =
        collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;
    using Mainloop =
        typename collective::CollectiveBuilder<cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp,
                                               A, LayoutA, bytes / int(sizeof(A)), B, LayoutB,
                                               bytes / int(sizeof(B)), Accumulator, Tile, Cluster,
                                               Stages, Schedule>::CollectiveOp;
    using Gemm = device::GemmUniversalAdapter<
        kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>>;
};

template <class Gemm>
std::string launched(const Problem& p, typename Gemm::GemmKernel::MainloopArguments factors) {
    const std::int64_t n = p.n;
    const auto lie = cute::make_stride(n, _1{}, p.m * n);
    using D = typename Gemm::ElementD;
    typename Gemm::Arguments asked{
        GemmUniversalMode::kGemm,
        {p.m, p.n, p.k, p.batches},
        factors,
        {{p.alpha, p.beta}, static_cast<const D*>(p.c), lie, static_cast<D*>(p.d), lie}};
    if (const auto can = Gemm::can_implement(asked); can != cutlass::Status::kSuccess)
        return cutlassGetStatusString(can);
    if (p.d == nullptr) return "";
    const Buffer workspace(Gemm::get_workspace_size(asked));
    const auto done = Gemm()(asked, workspace.as());
    return done == cutlass::Status::kSuccess ? "" : cutlassGetStatusString(done);
}

template <class Gemm>
typename Gemm::GemmKernel::MainloopArguments factors_of(const Problem& p) {
    const std::int64_t k = p.k;
    return {static_cast<const typename Gemm::ElementA*>(p.a), cute::make_stride(k, _1{}, p.m * k),
            static_cast<const typename Gemm::ElementB*>(p.b), cute::make_stride(k, _1{}, p.n * k)};
}

template <class A, class B, class Accumulator, class D, class Schedule,
          class Tile = Shape<_128, _128, cute::Int<128 / int(sizeof(A))>>>
std::string plain(const Problem& p) {
    using Gemm = typename Kernel<A, B, Accumulator, D, Schedule, Tile>::Gemm;
    return launched<Gemm>(p, factors_of<Gemm>(p));
}

// Where rows are no multiple of 16 bytes long.
template <class A>
std::string by_words(const Problem& p) {
    using Gemm = typename Kernel<A, A, float, float, KernelCpAsyncWarpSpecialized,
                                 Shape<_64, _128, _64>, RowMajor, ColumnMajor, 4>::Gemm;
    return launched<Gemm>(p, factors_of<Gemm>(p));
}

// So many rows of A and of B share a scale, which is of 128 along K.
template <int rows_a, int rows_b, class A, class B, class D>
std::string scaled(const Problem& p) {
    using Scales =
        cutlass::detail::Sm90BlockwiseScaleConfig<rows_a, rows_b, 128, Major::K, Major::K>;
    using Gemm =
        typename Kernel<A, B, float, D, KernelTmaWarpSpecializedCooperativeFP8Blockwise,
                        Shape<_128, _128, _128>,
                        cute::tuple<RowMajor, decltype(Scales::deduce_layoutSFA())>,
                        cute::tuple<ColumnMajor, decltype(Scales::deduce_layoutSFB())>>::Gemm;
    const auto shape = cute::make_shape(p.m, p.n, p.k, p.batches);
    auto factors = factors_of<Gemm>(p);
    factors.ptr_SFA = p.a_scales, factors.layout_SFA = Scales::tile_atom_to_shape_SFA(shape);
    factors.ptr_SFB = p.b_scales, factors.layout_SFB = Scales::tile_atom_to_shape_SFB(shape);
    return launched<Gemm>(p, factors);
}

using Cooperative = KernelTmaWarpSpecializedCooperative;
using Pingpong = KernelTmaWarpSpecializedPingpong;
using Fast = KernelTmaWarpSpecializedCooperativeFP8FastAccum;
using FastPingpong = KernelTmaWarpSpecializedPingpongFP8FastAccum;
using Narrow = Shape<_64, _128, _128>;

constexpr mx::peers::Product products[] = {
    {"cooperative", "e4m3", "e4m3", "f32", "", "", "", plain<E4, E4, float, float, Cooperative>},
    {"pingpong", "e4m3", "e4m3", "f32", "", "", "", plain<E4, E4, float, float, Pingpong, Narrow>},
    {"cooperative", "e4m3", "e5m2", "bf16", "", "", "", plain<E4, E5, float, Bf16, Cooperative>},
    {"cooperative", "e4m3", "e4m3", "f32", "", "", "fast", plain<E4, E4, float, float, Fast>},
    {"pingpong", "e4m3", "e4m3", "f32", "", "", "fast",
     plain<E4, E4, float, float, FastPingpong, Narrow>},
    {"cooperative", "e5m2", "e5m2", "f32", "", "", "fast", plain<E5, E5, float, float, Fast>},
    {"f16-accumulator", "e4m3", "e4m3", "f16", "", "", "fast", plain<E4, E4, Half, Half, Fast>},
    {"f16-accumulator", "e5m2", "e4m3", "f16", "", "", "fast", plain<E5, E4, Half, Half, Fast>},
    {"f16-accumulator", "e4m3", "e4m3", "f32", "", "", "fast", plain<E4, E4, Half, float, Fast>},
    {"f16-accumulator", "e5m2", "e5m2", "f32", "", "", "fast", plain<E5, E5, Half, float, Fast>},
    {"cooperative", "bf16", "bf16", "f32", "", "", "",
     plain<Bf16, Bf16, float, float, Cooperative>},
    {"cp-async", "bf16", "bf16", "f32", "", "", "", by_words<Bf16>},
    {"cooperative", "f16", "f16", "f32", "", "", "", plain<Half, Half, float, float, Cooperative>},
    {"cooperative", "f16", "f16", "f16", "", "", "", plain<Half, Half, float, Half, Cooperative>},
    {"f16-accumulator", "f16", "f16", "f16", "", "", "fast",
     plain<Half, Half, Half, Half, Cooperative>},
    {"f16-accumulator", "f16", "f16", "f32", "", "", "fast",
     plain<Half, Half, Half, float, Cooperative>},
    {"cooperative", "tf32", "tf32", "f32", "", "", "",
     plain<Tf32, Tf32, float, float, Cooperative>},
    {"blockwise", "e4m3", "e4m3", "f32", "1x128", "128x128", "", scaled<1, 128, E4, E4, float>},
    {"blockwise", "e4m3", "e4m3", "bf16", "1x128", "128x128", "", scaled<1, 128, E4, E4, Bf16>},
    {"blockwise", "e4m3", "e5m2", "f32", "128x128", "1x128", "", scaled<128, 1, E4, E5, float>},
    {"blockwise", "e4m3", "e4m3", "f32", "1x128", "1x128", "", scaled<1, 1, E4, E4, float>},
};
constexpr mx::peers::GemmLibrary library{"CUTLASS's GEMM kernels", "NVIDIA", products};
MX_GEMM_PEER(library)
