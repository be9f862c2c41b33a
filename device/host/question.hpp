// One question to a device, and everything the host saw while it answered.
// Used by Client and by whoever asks it; holds no expected bits and no verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/host/operation.hpp"

namespace mx {

// `data` is byte_extent(spec) bytes, gaps of the strides included. `second_data`, if not empty, is
// what the second run gets instead: the same elements among other pads, so that a device that reads
// pads disagrees with itself.
struct InputTensor {
    TensorSpec spec = {};
    std::span<const std::byte> data = {};
    std::span<const std::byte> second_data = {};
};

struct Question {
    Operation operation = {};
    std::vector<InputTensor> inputs = {};
    std::vector<TensorSpec> outputs = {};
    // The asker's own, by which a recorded answer is found; no device sees it.
    std::string name = {};
};

// Bits of OutputTensor::flags. An element has at most one of them.
inline constexpr std::uint8_t flag_unwritten = 1;  // a byte kept both poisons
inline constexpr std::uint8_t flag_differs = 2;    // the two runs gave different bits

struct OutputTensor {
    std::vector<std::byte> bytes = {};     // of the first run, row-major without gaps; the whole
                                           // buffer as it lies if the layout is not strided
    std::vector<std::uint8_t> flags = {};  // one per element, row-major; or one per byte
    std::uint64_t unwritten = 0;           // elements with flag_unwritten
    std::uint64_t differing = 0;           // elements with flag_differs
};

// The device wrote to an input. Elements count in row-major order.
struct ModifiedInput {
    std::size_t tensor = 0;
    std::uint64_t first_element = 0;
    std::uint64_t count = 0;
};

enum class TensorRole { input, output };
enum class RedZoneSide { before, gap, after };  // gap: between the elements of a strided tensor

// The device wrote beside a tensor. `first_byte` is the lowest address touched on this side,
// counted from the first byte of the tensor for before (negative) and gap, from its end for after.
struct RedZoneHit {
    TensorRole role = TensorRole::output;
    std::size_t tensor = 0;
    RedZoneSide side = RedZoneSide::after;
    std::int64_t first_byte = 0;
    std::uint64_t count = 0;  // bytes changed, within the part of the zone that is watched
};

struct Findings {
    std::vector<ModifiedInput> modified_inputs = {};
    std::vector<RedZoneHit> red_zone_hits = {};
    bool empty() const { return modified_inputs.empty() && red_zone_hits.empty(); }
};

enum class AnswerKind {
    answered,
    not_supported,  // the device said so before it ran
    device_error,   // it answered an error, or nonsense, or does not open any more
    crash,          // its process ended
    timeout,        // its process gave no answer and was killed
    host_error,     // not the device's fault: the question is malformed or does not fit in memory
};

// `outputs` and `findings` are only filled when answered.
struct DeviceAnswer {
    AnswerKind kind = AnswerKind::device_error;
    std::string reason = {};  // "" when answered
    std::vector<OutputTensor> outputs = {};
    Findings findings = {};
    bool is_recorded = false;  // elsewhere: nobody watched the device's memory
};

}  // namespace mx
