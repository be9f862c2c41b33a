// The tensors of one call in shared memory: where each lies, poison, red zones, and what a run
// left behind. Used by IsolatedDevice; knows nothing of processes and nothing of values.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/host/question.hpp"
#include "device/host/red_zone.hpp"
#include "reference/base/status.hpp"

namespace mx {

// The two fills of an output before the two runs. They differ in every bit, so a device that
// computes what it reads there cannot agree with itself.
inline constexpr std::byte first_poison{0xA5};
inline constexpr std::byte second_poison{0x5A};

// Bytes watched on either side of every tensor.
inline constexpr std::size_t red_zone_size = 4096;

struct PlacedTensor {
    TensorSpec spec = {};
    TensorSpec storage = {};  // storage_of(spec): what is poisoned, compared and watched
    std::size_t offset = 0;   // of the first element, from the start of the memory
    std::size_t extent = 0;   // byte_extent(spec)
    ByteRange region = {};    // the tensor and both its red zones
};

struct Placement {
    std::vector<PlacedTensor> inputs = {};
    std::vector<PlacedTensor> outputs = {};
    std::size_t size = 0;  // bytes of memory needed
};

// Says where each tensor of the question goes, or what is wrong with the question.
Expected<Placement> place(const Question& question);

// The same of a question whose inputs have no data yet.
Expected<Placement> place_shapes(const Question& question);

// Of an output after two runs: `output.bytes` of the first, `second` of the other. Sets its flags,
// one for each `width` bytes, all of them clear before, and counts them.
void flag_differences(OutputTensor& output, std::span<const std::byte> second, std::size_t width);

// Works on the memory of one call; the question and the placement must outlive it.
class CallBuffers {
public:
    CallBuffers(const Question& question, const Placement& placement, std::span<std::byte> memory)
        : question_(question), placement_(placement), memory_(memory) {}

    // Writes the red zones and the inputs.
    void fill();
    void fill_zones();

    // Poisons every element of every output, for the next run.
    void poison(std::byte pattern);

    // Gives the second run its inputs, where they are others.
    void load_second_inputs();

    // The outputs of the first run; their flags are clear.
    std::vector<OutputTensor> first_outputs() const;

    // Compares the outputs of the second run with those of the first and sets their flags.
    void flag(std::vector<OutputTensor>& outputs) const;

    // Adds what the last run did outside its outputs, once per place, and repairs it. Call it
    // after the outputs were read: the elements of an output with gaps are lost.
    void inspect(Findings& findings);
    // The same of red zones alone, where no output has gaps.
    void inspect_zones(Findings& findings);

    // Where they lie.
    std::vector<std::span<std::byte>> inputs() const { return spans_of(placement_.inputs); }
    std::vector<std::span<std::byte>> outputs() const { return spans_of(placement_.outputs); }

private:
    struct TensorId {
        TensorRole role = TensorRole::output;
        std::size_t index = 0;
    };

    void inspect_zones(TensorId id, Findings& findings);
    void inspect_input(std::size_t index, Findings& findings);
    void report(TensorId id, RedZoneSide side, Findings& findings);

    const PlacedTensor& tensor(TensorId id) const {
        return (id.role == TensorRole::input ? placement_.inputs : placement_.outputs)[id.index];
    }
    std::span<const std::byte> data_of(const InputTensor& input) const {
        return second_run_ && !input.second_data.empty() ? input.second_data : input.data;
    }
    std::span<std::byte> elements_of(const PlacedTensor& tensor) const {
        return memory_.subspan(tensor.offset, tensor.extent);
    }

    std::vector<std::span<std::byte>> spans_of(const std::vector<PlacedTensor>& tensors) const {
        std::vector<std::span<std::byte>> spans;
        for (const PlacedTensor& tensor : tensors) spans.push_back(elements_of(tensor));
        return spans;
    }

    const Question& question_;
    const Placement& placement_;
    std::span<std::byte> memory_;
    bool second_run_ = false;
};

}  // namespace mx
