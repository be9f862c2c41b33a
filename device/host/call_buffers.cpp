// Poison, red zones and their inspection. Used by IsolatedDevice; knows nothing of processes.
// The usual case, a device that did nothing wrong, costs one memcmp or fill per byte and no more.
#include "device/host/call_buffers.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "device/host/strided.hpp"

namespace mx {

namespace {

constexpr std::size_t alignment = 64;

Error bad_question(TensorRole role, std::size_t index, const std::string& what) {
    const std::string kind = role == TensorRole::input ? "input " : "output ";
    return bad_input(kind + std::to_string(index) + ": " + what);
}

// Appends the tensor after `size`, which it moves on; false when the sum overflows.
bool append(std::size_t& size, PlacedTensor& tensor) {
    std::size_t end = 0;
    if (__builtin_add_overflow(tensor.extent, 2 * red_zone_size + alignment, &end)) return false;
    tensor.region.begin = size;
    tensor.offset = size + red_zone_size;
    const std::size_t padded = (tensor.extent + alignment - 1) / alignment * alignment;
    if (__builtin_add_overflow(size, padded + 2 * red_zone_size, &size)) return false;
    tensor.region.end = size;
    return true;
}

// False for dense tensors in any order of dimensions: their elements are one plain range.
bool has_gaps(const PlacedTensor& output) {
    return element_count(output.storage) * element_width(output.storage.type) != output.extent;
}

// One element after the first and after the second run.
struct ElementPair {
    const std::byte* first = nullptr;
    const std::byte* second = nullptr;
};

std::uint8_t flag_of(ElementPair element, std::size_t width) {
    std::uint8_t flag = 0;
    for (std::size_t i = 0; i < width; ++i) {
        const std::byte first = element.first[i];
        const std::byte second = element.second[i];
        if (first == first_poison && second == second_poison) return flag_unwritten;
        if (first != second) flag = flag_differs;
    }
    return flag;
}

// Both runs of a wrong device do the same; the first one is told.
void add_once(Findings& findings, const RedZoneHit& hit) {
    std::vector<RedZoneHit>& hits = findings.red_zone_hits;
    const auto same = [&](const RedZoneHit& known) {
        return known.role == hit.role && known.tensor == hit.tensor && known.side == hit.side;
    };
    if (std::none_of(hits.begin(), hits.end(), same)) hits.push_back(hit);
}

void add_once(Findings& findings, const ModifiedInput& modified) {
    std::vector<ModifiedInput>& inputs = findings.modified_inputs;
    const auto same = [&](const ModifiedInput& known) { return known.tensor == modified.tensor; };
    if (std::none_of(inputs.begin(), inputs.end(), same)) inputs.push_back(modified);
}

}  // namespace

// An element that kept both poisons differs between the runs, so equal memory needs no look.
void flag_differences(OutputTensor& output, std::span<const std::byte> second, std::size_t width) {
    constexpr std::size_t chunk_size = 256;  // a multiple of every width
    const std::vector<std::byte>& first = output.bytes;
    if (first.empty() || std::memcmp(first.data(), second.data(), first.size()) == 0) return;
    for (std::size_t chunk = 0; chunk < first.size(); chunk += chunk_size) {
        const std::size_t end = std::min(chunk + chunk_size, first.size());
        if (std::memcmp(&first[chunk], &second[chunk], end - chunk) == 0) continue;
        for (std::size_t at = chunk; at < end; at += width) {
            const std::uint8_t flag = flag_of({&first[at], &second[at]}, width);
            output.flags[at / width] = flag;
            output.unwritten += flag == flag_unwritten ? 1 : 0;
            output.differing += flag == flag_differs ? 1 : 0;
        }
    }
}

Expected<Placement> place_shapes(const Question& question) {
    Placement placement;
    const auto add = [&](TensorRole role, std::size_t index, const TensorSpec& spec) -> Status {
        const Expected<std::size_t> extent = byte_extent(spec);
        if (!extent) return bad_question(role, index, extent.error().message);
        PlacedTensor tensor{spec, storage_of(spec), 0, extent.value(), {}};
        if (!append(placement.size, tensor)) {
            return bad_question(role, index, "the tensors are larger than the address space");
        }
        (role == TensorRole::input ? placement.inputs : placement.outputs).push_back(tensor);
        return success();
    };
    for (std::size_t i = 0; i < question.inputs.size(); ++i)
        if (const Status added = add(TensorRole::input, i, question.inputs[i].spec); !added)
            return added.error();
    for (std::size_t i = 0; i < question.outputs.size(); ++i) {
        const TensorSpec& spec = question.outputs[i];
        if (const Status added = add(TensorRole::output, i, spec); !added) return added.error();
        if (!has_separate_elements(spec)) {
            return bad_question(TensorRole::output, i, "elements of " + to_text(spec) + " overlap");
        }
    }
    return placement;
}

Expected<Placement> place(const Question& question) {
    auto placement = place_shapes(question);
    if (!placement) return placement;
    for (std::size_t i = 0; i < question.inputs.size(); ++i) {
        const InputTensor& input = question.inputs[i];
        const std::size_t needed = placement.value().inputs[i].extent;
        for (const std::size_t given : {input.data.size(), input.second_data.size()}) {
            if (given == needed || (given == 0 && input.data.size() == needed)) continue;
            return bad_question(TensorRole::input, i,
                                std::to_string(given) + " bytes were given, " +
                                    to_text(input.spec) + " needs " + std::to_string(needed));
        }
    }
    return placement;
}

void CallBuffers::fill_zones() {
    for (const PlacedTensor& output : placement_.outputs) {
        const ByteRange before{output.region.begin, output.offset};
        const ByteRange after{output.offset + output.extent, output.region.end};
        fill_zone(memory_, before);
        fill_zone(memory_, after);
        if (has_gaps(output)) fill_zone(memory_, {before.end, after.begin});
    }
    for (const PlacedTensor& input : placement_.inputs) {
        fill_zone(memory_, {input.region.begin, input.offset});
        fill_zone(memory_, {input.offset + input.extent, input.region.end});
    }
}

void CallBuffers::fill() {
    fill_zones();
    for (std::size_t i = 0; i < placement_.inputs.size(); ++i) {
        const PlacedTensor& input = placement_.inputs[i];
        if (input.extent == 0) continue;
        std::memcpy(elements_of(input).data(), question_.inputs[i].data.data(), input.extent);
    }
}

void CallBuffers::poison(std::byte pattern) {
    for (const PlacedTensor& output : placement_.outputs) {
        std::byte* data = elements_of(output).data();
        if (!has_gaps(output)) {
            std::fill_n(data, output.extent, pattern);
            continue;
        }
        for_each_run(output.storage, [&](ElementRun run) {
            std::memset(data + run.strided, std::to_integer<int>(pattern), run.size);
        });
    }
}

void CallBuffers::load_second_inputs() {
    second_run_ = true;
    for (std::size_t i = 0; i < placement_.inputs.size(); ++i) {
        const std::span<const std::byte> data = question_.inputs[i].second_data;
        if (data.empty()) continue;
        std::memcpy(elements_of(placement_.inputs[i]).data(), data.data(), data.size());
    }
}

std::vector<OutputTensor> CallBuffers::first_outputs() const {
    std::vector<OutputTensor> outputs;
    for (const PlacedTensor& placed : placement_.outputs) {
        OutputTensor output;
        const std::span<const std::byte> dense =
            dense_view(placed.storage, elements_of(placed), output.bytes);
        if (is_dense(placed.storage)) output.bytes.assign(dense.begin(), dense.end());
        output.flags.resize(element_count(placed.storage));
        outputs.push_back(std::move(output));
    }
    return outputs;
}

void CallBuffers::flag(std::vector<OutputTensor>& outputs) const {
    std::vector<std::byte> scratch;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const PlacedTensor& placed = placement_.outputs[i];
        flag_differences(outputs[i], dense_view(placed.storage, elements_of(placed), scratch),
                         element_width(placed.storage.type));
    }
}

void CallBuffers::inspect(Findings& findings) {
    for (std::size_t i = 0; i < placement_.inputs.size(); ++i) {
        inspect_zones({TensorRole::input, i}, findings);
        inspect_input(i, findings);
    }
    for (std::size_t i = 0; i < placement_.outputs.size(); ++i) {
        const PlacedTensor& output = placement_.outputs[i];
        if (has_gaps(output)) {
            // With the elements made zone too, the gaps are what is left of one plain range.
            for_each_run(output.storage, [&](ElementRun run) {
                const std::size_t begin = output.offset + run.strided;
                fill_zone(memory_, {begin, begin + run.size});
            });
            report({TensorRole::output, i}, RedZoneSide::gap, findings);
        }
        inspect_zones({TensorRole::output, i}, findings);
    }
}

void CallBuffers::inspect_zones(Findings& findings) {
    for (std::size_t i = 0; i < placement_.inputs.size(); ++i)
        inspect_zones({TensorRole::input, i}, findings);
    for (std::size_t i = 0; i < placement_.outputs.size(); ++i)
        inspect_zones({TensorRole::output, i}, findings);
}

void CallBuffers::inspect_zones(TensorId id, Findings& findings) {
    report(id, RedZoneSide::before, findings);
    report(id, RedZoneSide::after, findings);
}

void CallBuffers::report(TensorId id, RedZoneSide side, Findings& findings) {
    const PlacedTensor& placed = tensor(id);
    const std::size_t end = placed.offset + placed.extent;
    const ByteRange range = side == RedZoneSide::before
                                ? ByteRange{placed.region.begin, placed.offset}
                            : side == RedZoneSide::gap ? ByteRange{placed.offset, end}
                                                       : ByteRange{end, placed.region.end};
    const ChangedBytes changed = changed_in_zone(memory_, range);
    if (changed.count == 0) return;
    fill_zone(memory_, range);
    const std::size_t origin = side == RedZoneSide::after ? end : placed.offset;
    const std::int64_t first_byte =
        static_cast<std::int64_t>(changed.first) - static_cast<std::int64_t>(origin);
    add_once(findings, {id.role, id.index, side, first_byte, changed.count});
}

void CallBuffers::inspect_input(std::size_t index, Findings& findings) {
    const PlacedTensor& placed = placement_.inputs[index];
    const std::span<const std::byte> given = data_of(question_.inputs[index]);
    const std::span<std::byte> now = elements_of(placed);
    if (placed.extent == 0 || std::memcmp(now.data(), given.data(), placed.extent) == 0) return;

    const std::size_t width = element_width(placed.storage.type);
    ModifiedInput modified{index, 0, 0};
    for_each_run(placed.storage, [&](ElementRun run) {
        for (std::size_t i = 0; i < run.size; i += width) {
            const std::size_t at = run.strided + i;
            if (std::memcmp(&now[at], &given[at], width) == 0) continue;
            if (modified.count == 0) modified.first_element = (run.dense + i) / width;
            ++modified.count;
            std::memcpy(&now[at], &given[at], width);
        }
    });
    if (modified.count > 0) add_once(findings, modified);
    // The elements are as given again, so whatever still differs was written between them.
    RedZoneHit gap{TensorRole::input, index, RedZoneSide::gap, 0, 0};
    for (std::size_t at = 0; at < placed.extent; ++at) {
        if (now[at] == given[at]) continue;
        if (gap.count == 0) gap.first_byte = static_cast<std::int64_t>(at);
        ++gap.count;
    }
    if (gap.count == 0) return;
    std::memcpy(now.data(), given.data(), placed.extent);
    add_once(findings, gap);
}

}  // namespace mx
