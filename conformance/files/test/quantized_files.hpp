// Quantized tensors as other projects store them, made here from the emulator's, for the tests of
// what reads them. Knows the layouts by their documents, not by the readers.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "conformance/data/tensor_file.hpp"
#include "conformance/data/test/file_bytes.hpp"
#include "conformance/emulate/quantize_tensor.hpp"

namespace mx::files::test {

using Bytes = std::vector<std::byte>;

struct Grid {
    std::int64_t rows = 128;
    std::int64_t columns = 256;
};

// Values of many magnitudes, zeros of both signs among them; the same for a seed every time.
inline std::vector<float> some_values(Grid size, std::uint32_t seed = 1) {
    std::vector<float> values;
    std::uint32_t state = seed;
    const auto next = [&] { return state = state * 1664525u + 1013904223u; };
    for (std::int64_t i = 0; i < size.rows * size.columns; ++i) {
        const float unit = static_cast<float>(next() >> 8) / 8388608.0f - 1.0f;
        const int exponent = static_cast<int>((i / 32) * 7 % 13) - 6;
        values.push_back(next() % 61 == 0 ? -0.0f : std::ldexp(unit, exponent));
    }
    return values;
}

inline data::HostTensor tensor_of(const std::vector<float>& values, Grid size) {
    data::HostTensor tensor{"values", "f32", {size.rows, size.columns}, {}};
    tensor.bytes.resize(values.size() * sizeof(float));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    return tensor;
}

// One code a byte and scales row by row, and the number of the tensor.
struct Quantized {
    Grid size;
    Bytes codes, scales, number;
};

inline data::TensorFile quantized_file(const data::HostTensor& values,
                                       const emulate::BlockNames& names) {
    auto made =
        emulate::quantize_tensor(values, emulate::completed(names), {.program_version = "test"});
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return made.ok() ? made.value().file : data::TensorFile{};
}

inline Quantized quantized(const data::HostTensor& values, const std::string& format,
                           const std::string& dialect) {
    const data::TensorFile file =
        quantized_file(values, {.format = format, .dialect = dialect, .packing = "bytes"});
    Quantized result{{values.shape[0], values.shape[1]}, {}, {}, {}};
    for (const data::HostTensor& tensor : file.tensors) {
        if (tensor.name == "elements") result.codes = tensor.bytes;
        if (tensor.name == "scales") result.scales = tensor.bytes;
        if (tensor.name == "tensor_scale") result.number = tensor.bytes;
    }
    return result;
}

// Two codes a byte, the first in the low half.
inline Bytes pairs(const Bytes& codes) {
    Bytes packed;
    for (std::size_t i = 0; i + 1 < codes.size(); i += 2)
        packed.push_back(codes[i] | codes[i + 1] << 4);
    return packed;
}

inline Bytes swapped_nibbles(Bytes bytes) {
    for (std::byte& b : bytes) b = b << 4 | b >> 4;
    return bytes;
}

// TransformerEngine's, torchao's to_blocked: of a grid of whole tiles of 128 x 4.
inline Bytes swizzled(const Bytes& scales, std::size_t rows, std::size_t columns) {
    Bytes out(scales.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
            out[((r / 128) * (columns / 4) + c / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 +
                c % 4] = scales[r * columns + c];
    return out;
}

inline Bytes transposed(const Bytes& bytes, std::size_t rows, std::size_t columns) {
    Bytes out(bytes.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = bytes[r * columns + c];
    return out;
}

inline Bytes bytes_of(float number) {
    Bytes bytes(sizeof number);
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
}

inline void write(const std::string& path, std::vector<data::HostTensor> tensors) {
    const Status written = data::write_tensor_file(path, {std::move(tensors), {}});
    ASSERT_TRUE(written.ok()) << written.error().message;
}

// MXFP4 as gpt-oss has it, with an expert dimension.
inline std::vector<data::HostTensor> gpt_oss(const Quantized& q, const std::string& name = "w") {
    const std::int64_t blocks = q.size.columns / 32;
    return {{name + "_blocks", "u8", {1, q.size.rows, blocks, 16}, pairs(q.codes)},
            {name + "_scales", "u8", {1, q.size.rows, blocks}, q.scales}};
}

// MXFP8: compressed-tensors' mxfp8-quantized.
inline std::vector<data::HostTensor> mxfp8(const Quantized& q, const std::string& name = "w") {
    return {{name + ".weight", "e4m3", {q.size.rows, q.size.columns}, q.codes},
            {name + ".weight_scale", "u8", {q.size.rows, q.size.columns / 32}, q.scales}};
}

// NVFP4 as ModelOpt has it (multiplied by the number), or compressed-tensors (divided).
inline std::vector<data::HostTensor> modelopt(const Quantized& q, float number) {
    return {{"w.weight", "u8", {q.size.rows, q.size.columns / 2}, pairs(q.codes)},
            {"w.weight_scale", "e4m3", {q.size.rows, q.size.columns / 16}, q.scales},
            {"w.weight_scale_2", "f32", {}, bytes_of(number)}};
}
inline std::vector<data::HostTensor> compressed(const Quantized& q, float number) {
    return {{"w.weight_packed", "u8", {q.size.rows, q.size.columns / 2}, pairs(q.codes)},
            {"w.weight_scale", "e4m3", {q.size.rows, q.size.columns / 16}, q.scales},
            {"w.weight_global_scale", "f32", {1}, bytes_of(number)}};
}

}  // namespace mx::files::test
