// The kernels of dequantize_kernels.hpp, compiled once per instruction set.
// Must not know tails, strides within a block, or names.
#include "device/cpu/dequantize_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/dequantize_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "device/cpu/decode_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mx::cpu::HWY_NAMESPACE {
namespace {
#if MX_CPU_HAS_LANES

constexpr std::size_t block_values = static_cast<std::size_t>(row_block);
// Hardware prefetchers stop at pages: codes are asked for this far ahead.
constexpr std::size_t prefetch_bytes = 2048;
constexpr std::size_t line_blocks = 64 / block_values;

// Special elements under a middling scale are left to the code for extreme ones.
template <typename Elements, typename Output>
HWY_NOINLINE void decode_special(const DecodeLanes& element, const std::uint8_t* codes,
                                 std::uint32_t scale_code, std::uint8_t* at) {
    for (std::size_t i = 0; i < block_values; i += lanes) {
        decode_vector<Elements, Output, Extreme>(element, codes + i, set(scale_code),
                                                 at + i * Output::width);
    }
}

template <typename Elements, typename Output>
HWY_INLINE void decode_blocks(const Run& run, std::uint8_t* values, Stores stores) {
    const DecodeLanes element = decode_lanes_of(element_of(run.recipe.element_type));
    for (std::size_t i = 0; i < run.blocks; ++i) {
        const std::uint8_t* codes = run.codes + i * block_values;
        std::uint8_t* at = values + i * block_values * Output::width;
        const std::uint32_t scale = run.scales[i];
        if (i % line_blocks == 0) prefetch_far(codes + prefetch_bytes);
        const bool middling = scale >= middling_from && scale <= middling_to;
        if (!middling || !is_plain(element, codes)) {
            decode_special<Elements, Output>(element, codes, scale, at);
            continue;
        }
        for (std::size_t lane = 0; lane < block_values; lane += lanes) {
            const BitsV plain = plain_values(Elements(), element, codes + lane, set(scale));
            Output::store_plain(plain, at + lane * Output::width, stores);
        }
    }
}

// Past the caches, to any address: a streaming store must be aligned, so what lies before the first
// aligned vector and after the last goes the ordinary way.
HWY_INLINE void stream_bytes(const std::uint8_t* from, std::uint8_t* to, std::size_t count) {
    constexpr std::size_t vector_bytes = lanes * 4;
    std::size_t i = 0;
    const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % vector_bytes;
    if (past != 0) {
        i = HWY_MIN(count, vector_bytes - past);
        for (std::size_t j = 0; j < i; ++j) to[j] = from[j];
    }
    for (; i + vector_bytes <= count; i += vector_bytes) {
        hn::Stream(hn::LoadU(Bytes(), from + i), Bytes(), to + i);
    }
    for (; i < count; ++i) to[i] = from[i];
}

// Through a buffer in the first-level cache, because blocks need not start where vectors do.
template <typename Elements, typename Output>
HWY_INLINE void stream_blocks(const Run& run) {
    constexpr std::size_t chunk_blocks = 64;
    constexpr std::size_t block_bytes = block_values * Output::width;
    alignas(64) std::uint8_t buffer[chunk_blocks * block_bytes];
    for (std::size_t first = 0; first < run.blocks; first += chunk_blocks) {
        Run chunk = run;
        chunk.codes += first * block_values;
        chunk.scales += first;
        chunk.blocks = HWY_MIN(chunk_blocks, run.blocks - first);
        decode_blocks<Elements, Output>(chunk, buffer, Stores::cached);
        stream_bytes(buffer, run.values + first * block_bytes, chunk.blocks * block_bytes);
    }
    hwy::FlushStream();
}

struct RowForm {
    template <typename Elements, typename Output>
    static std::size_t decode(const Run& run) {
        constexpr bool whole_vectors = Output::width == 4;
        const bool aligned = reinterpret_cast<std::uintptr_t>(run.values) % (lanes * 4) == 0;
        if (run.blocks * block_values * Output::width < streaming_bytes) {
            decode_blocks<Elements, Output>(run, run.values, Stores::cached);
        } else if (whole_vectors && aligned) {
            decode_blocks<Elements, Output>(run, run.values, Stores::streaming);
            hwy::FlushStream();
        } else {
            stream_blocks<Elements, Output>(run);
        }
        return run.blocks;
    }
};

template <typename Elements, typename Output, typename Kind>
HWY_INLINE void decode_lines(const Strip& strip, std::size_t line, BitsV scale_codes) {
    constexpr auto width = static_cast<std::ptrdiff_t>(Output::width);
    const DecodeLanes element = decode_lanes_of(element_of(strip.recipe.element_type));
    for (std::size_t i = 0; i < strip.lanes; ++i) {
        const auto lane = static_cast<std::ptrdiff_t>(i);
        const std::uint8_t* codes = strip.codes.data + lane * strip.codes.lane_stride;
        std::uint8_t* values = strip.values.data + lane * strip.values.lane_stride * width;
        decode_vector<Elements, Output, Kind>(element, codes + line, scale_codes,
                                              values + line * Output::width);
    }
}

struct ColumnForm {
    template <typename Elements, typename Output>
    static std::size_t decode(const Strip& strip) {
        std::size_t line = 0;
        for (; line + lanes <= strip.lines; line += lanes) {
            const BitsV scale_codes = load_codes(strip.scales + line);
            if (hn::AllTrue(Bits(), is_middling(scale_codes))) {
                decode_lines<Elements, Output, Middling>(strip, line, scale_codes);
            } else {
                decode_lines<Elements, Output, Extreme>(strip, line, scale_codes);
            }
        }
        return line;
    }
};

template <typename Form, typename Elements, typename Work>
std::size_t decode_to(const Work& work) {
    switch (work.recipe.value_type) {
        case ValueType::f32:
            return Form::template decode<Elements, F32Output>(work);
        case ValueType::bf16:
            return Form::template decode<Elements, Bf16Output>(work);
        case ValueType::f16:
            return Form::template decode<Elements, F16Output>(work);
    }
    return 0;
}

template <typename Form, typename Work>
std::size_t decode(const Work& work) {
    const Element element = element_of(work.recipe.element_type);
    if (element.signs == Signs::sign_bit) return decode_to<Form, FloatElements>(work);
    return decode_to<Form, IntegerElements>(work);
}

#endif  // MX_CPU_HAS_LANES
}  // namespace

#if MX_CPU_HAS_LANES
std::size_t dequantize_run_lanes(const Run& run) {
    return decode<RowForm>(run);
}
std::size_t dequantize_strip_lanes(const Strip& strip) {
    return decode<ColumnForm>(strip);
}
#else
std::size_t dequantize_run_lanes(const Run&) {
    return 0;
}
std::size_t dequantize_strip_lanes(const Strip&) {
    return 0;
}
#endif

}  // namespace mx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mx::cpu {

HWY_EXPORT(dequantize_run_lanes);
HWY_EXPORT(dequantize_strip_lanes);

std::size_t dequantize_run(const Run& run) {
    return HWY_DYNAMIC_DISPATCH(dequantize_run_lanes)(run);
}
std::size_t dequantize_strip(const Strip& strip) {
    return HWY_DYNAMIC_DISPATCH(dequantize_strip_lanes)(strip);
}

}  // namespace mx::cpu
#endif
