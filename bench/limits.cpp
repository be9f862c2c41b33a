// limits.hpp, once per instruction set. Must not know any device.
#include "bench/limits.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/limits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace mx::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<std::uint8_t>;
using BytesV = hn::Vec<Bytes>;

enum class Stores { cached, streaming };

template <Stores stores>
HWY_INLINE void store(BytesV bytes, std::uint8_t* at) {
    if constexpr (stores == Stores::streaming) {
        hn::Stream(bytes, Bytes(), at);
    } else {
        hn::Store(bytes, Bytes(), at);
    }
}

template <Stores stores>
HWY_INLINE void four_to_one(const Traffic& traffic) {
    const Bytes d;
    const std::size_t step = hn::Lanes(d);
    for (std::size_t i = 0; i < traffic.values; i += step) {
        const std::uint8_t* in = traffic.in + 4 * i;
        const BytesV first = hn::Or(hn::Load(d, in), hn::Load(d, in + step));
        const BytesV second = hn::Or(hn::Load(d, in + 2 * step), hn::Load(d, in + 3 * step));
        store<stores>(hn::Or(first, second), traffic.out + i);
    }
    hwy::FlushStream();
}

// Every vector read is written four times: nothing is computed.
void read1_write4_streaming_here(const Traffic& traffic) {
    const Bytes d;
    const std::size_t step = hn::Lanes(d);
    for (std::size_t i = 0; i < traffic.values; i += step) {
        const BytesV bytes = hn::Load(d, traffic.in + i);
        for (std::size_t j = 0; j < 4; ++j) hn::Stream(bytes, d, traffic.out + 4 * i + j * step);
    }
    hwy::FlushStream();
}

void copy_streaming_here(const Traffic& traffic) {
    const Bytes d;
    for (std::size_t i = 0; i < 4 * traffic.values; i += hn::Lanes(d))
        hn::Stream(hn::Load(d, traffic.in + i), d, traffic.out + i);
    hwy::FlushStream();
}

void read4_write1_here(const Traffic& traffic) {
    four_to_one<Stores::cached>(traffic);
}
void read4_write1_streaming_here(const Traffic& traffic) {
    four_to_one<Stores::streaming>(traffic);
}
void write4_here(const Traffic& traffic) {
    const Bytes d;
    const BytesV bytes = hn::Set(d, 0x3C);
    for (std::size_t i = 0; i < 4 * traffic.values; i += hn::Lanes(d)) {
        hn::Store(bytes, d, traffic.out + i);
    }
}

void read4_here(const Traffic& traffic) {
    const Bytes d;
    const std::size_t step = hn::Lanes(d);
    BytesV first = hn::Zero(d);
    BytesV second = first;
    for (std::size_t i = 0; i < 4 * traffic.values; i += 2 * step) {
        first = hn::Or(first, hn::Load(d, traffic.in + i));
        second = hn::Or(second, hn::Load(d, traffic.in + i + step));
    }
    hn::Store(hn::Or(first, second), d, traffic.out);
}

}  // namespace mx::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mx::bench {

HWY_EXPORT(read4_write1_here);
HWY_EXPORT(read4_write1_streaming_here);
HWY_EXPORT(read1_write4_streaming_here);
HWY_EXPORT(copy_streaming_here);
HWY_EXPORT(write4_here);
HWY_EXPORT(read4_here);

void read4_write1(const Traffic& t) {
    HWY_DYNAMIC_DISPATCH(read4_write1_here)(t);
}
void read4_write1_streaming(const Traffic& t) {
    HWY_DYNAMIC_DISPATCH(read4_write1_streaming_here)(t);
}
void read1_write4_streaming(const Traffic& t) {
    HWY_DYNAMIC_DISPATCH(read1_write4_streaming_here)(t);
}
void copy_streaming(const Traffic& t) {
    HWY_DYNAMIC_DISPATCH(copy_streaming_here)(t);
}
void write4(const Traffic& t) {
    HWY_DYNAMIC_DISPATCH(write4_here)(t);
}
void read4(const Traffic& t) {
    HWY_DYNAMIC_DISPATCH(read4_here)(t);
}

}  // namespace mx::bench
#endif
