// See layout_guess.hpp. Other layouts are read by walking, so they need no formula.
#include "conformance/run/layout_guess.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "conformance/run/difference.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/layout.hpp"
#include "device/host/question.hpp"
#include "reference/exact/layout.hpp"

namespace mx {
namespace {

// Reads the tensors of a buffer in a way that was not asked for; false if it does not fit.
using Reader = std::function<bool(std::span<const std::byte>, std::span<CodeTensor>)>;
// The byte of each scale of a grid, row by row.
using Places = std::vector<std::size_t>;

struct Hypothesis {
    results::MismatchClass mismatch_class;
    std::string direction;
    Reader read;
    const Places* places = nullptr;  // of scales
    const Places* right = nullptr;   // those of the layout that was asked for
};
using Try = std::function<void(const Hypothesis& hypothesis)>;

Places places_of(const ScaleLayout& layout, GridShape shape) {
    Places places(static_cast<std::size_t>(shape.rows * shape.columns));
    const auto walked = exact::walk(layout, shape);
    for (std::size_t byte = 0; byte < walked.size(); ++byte)
        if (walked[byte])
            places[static_cast<std::size_t>(walked[byte]->row * shape.columns +
                                            walked[byte]->column)] = byte;
    return places;
}

ScaleLayout with_loops(ScaleLayout layout, const std::array<LayoutLoop, 6>& loops) {
    layout.loops = loops;
    return layout;
}

// Other ways to store the scales of a grid than the layout that was asked for.
class OtherPlaces {
public:
    using Visit = std::function<void(const std::string& direction, const Places& places,
                                     const Places& right)>;
    OtherPlaces(const ScaleLayout& asked, GridShape shape, std::size_t bytes)
        : asked_(asked), shape_(shape), bytes_(bytes), right_(places_of(asked, shape)) {}

    // One after another, since each may take as many bytes as there are scales, eight times.
    void visit(const Visit& visit) {
        visit_ = &visit;
        const std::string of_asked = "scales of " + std::string(name_of(asked_.storage)) + " ";
        for (std::size_t i = 0; i + 1 < asked_.loops.size(); ++i) add_exchanged(of_asked, i);
        for (const ScaleLayout& other : scale_layouts) {
            if (other.name == asked_.name) continue;
            const std::string in =
                other.storage == asked_.storage ? "" : " in " + std::string(name_of(other.storage));
            const bool is_along = other.axis == asked_.axis;
            add("scales as" + in + (is_along ? "" : " of blocks along the other axis"),
                places_of(other, shape_));
        }
        add("scales row by row without pads",
            places_of(with_loops(asked_, layout_rows::nest_row_major({1, 1})), shape_));
        add_lines_with_pads();
        add_moved(of_asked + "with rows of tiles half as long",
                  [&](std::size_t byte) { return byte - byte / line_of_tiles() * lost_of_line(); });
        constexpr std::size_t wraps_at = 65536;
        if (bytes_ > wraps_at)
            add_moved(of_asked + "at places that wrap at 2^16",
                      [](std::size_t byte) { return byte % wraps_at; });
        add_twice(of_asked);
    }

private:
    std::size_t outer() const { return static_cast<std::size_t>(asked_.outer_multiple); }
    std::size_t inner() const { return static_cast<std::size_t>(asked_.inner_multiple); }
    bool is_by_rows() const { return asked_.outer == Dimension::rows; }
    Dimension inner_dimension() const {
        return is_by_rows() ? Dimension::columns : Dimension::rows;
    }
    // The elements of a line along the inner dimension, and of one across it, with their pads.
    std::size_t line() const { return whole(is_by_rows() ? shape_.columns : shape_.rows, inner()); }
    std::size_t across() const {
        return whole(is_by_rows() ? shape_.rows : shape_.columns, outer());
    }
    static std::size_t whole(std::int64_t count, std::size_t multiple) {
        return (static_cast<std::size_t>(count) + multiple - 1) / multiple * multiple;
    }
    std::size_t line_of_tiles() const { return line() * outer(); }
    std::size_t lost_of_line() const {
        return line_of_tiles() - whole(static_cast<std::int64_t>(line() / 2), inner()) * outer();
    }

    void add(std::string direction, Places places) {
        for (std::size_t& place : places) place %= bytes_;  // as far as the buffer goes
        if (places != right_) (*visit_)(direction, places, right_);
    }

    std::string step_name(const LayoutLoop& loop) const {
        return std::to_string(loop.step) +
               (loop.dimension == asked_.outer ? " on the long side" : " on the short side");
    }

    // The loop over tiles with the one below it, or two within a tile.
    void add_exchanged(const std::string& of_asked, std::size_t i) {
        std::array<LayoutLoop, 6> loops = asked_.loops;
        if (loops[i + 1].step == 0 ||
            (loops[i].count == until_covered) != (loops[i + 1].count == until_covered))
            return;
        const std::string steps = step_name(loops[i]) + " and " + step_name(loops[i + 1]);
        std::swap(loops[i], loops[i + 1]);
        add(of_asked + (i == 0 ? "with the tiles in the other order"
                               : "with its steps of " + steps + " in the other order"),
            places_of(with_loops(asked_, loops), shape_));
    }

    void add_lines_with_pads() {
        const Dimension out = asked_.outer, in = inner_dimension();
        add("scales line by line with the pads of whole tiles",
            places_of(with_loops(asked_, {{{out, asked_.outer_multiple, until_covered},
                                           {out, 1, asked_.outer_multiple},
                                           {in, asked_.inner_multiple, until_covered},
                                           {in, 1, asked_.inner_multiple}}}),
                      shape_));
    }

    template <typename Move>
    void add_moved(std::string direction, const Move& move) {
        Places places = right_;
        for (std::size_t& place : places) place = move(place);
        add(std::move(direction), std::move(places));
    }

    // The bytes of the layout, its pads among them, are a grid that is stored in it once more.
    void add_twice(const std::string& of_asked) {
        GridShape padded{static_cast<std::int64_t>(across()), static_cast<std::int64_t>(line())};
        if (!is_by_rows()) std::swap(padded.rows, padded.columns);
        const Places whole_grid = places_of(asked_, padded);
        if (whole_grid.size() != bytes_) return;
        add_moved(of_asked + "that are swizzled twice", [&](std::size_t byte) {
            const std::size_t out = byte / line(), in = byte % line();
            return whole_grid[is_by_rows() ? byte : in * across() + out];
        });
    }

    const ScaleLayout& asked_;
    GridShape shape_;
    std::size_t bytes_;
    Places right_;
    const Visit* visit_ = nullptr;
};

// Another packing, as what makes of its bytes those that were asked for.
using Repack = std::function<std::vector<std::byte>(std::span<const std::byte>)>;

Hypothesis repacked(const Buffer& buffer, std::string direction, Repack repack) {
    const auto read = [buffer, repack = std::move(repack)](std::span<const std::byte> bytes,
                                                           std::span<CodeTensor> tensors) {
        collect(buffer, {repack(bytes), {}}, {tensors, {}});
        return true;
    };
    return {"packing", std::move(direction), read};
}

std::byte reversed(std::byte byte) {
    std::byte bits{};
    for (int bit = 0; bit < 8; ++bit) bits |= (byte >> bit & std::byte{1}) << (7 - bit);
    return bits;
}

std::vector<std::byte> each_byte(std::span<const std::byte> bytes,
                                 const std::function<std::byte(std::byte, std::size_t)>& changed) {
    std::vector<std::byte> others(bytes.begin(), bytes.end());
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = changed(bytes[i], i);
    return others;
}

// Each block with its scale behind the codes, where the scale stood at byte `scale_at`.
std::vector<std::byte> scales_to_the_end(std::span<const std::byte> bytes, std::size_t block,
                                         std::size_t scale_at) {
    std::vector<std::byte> others(bytes.begin(), bytes.end());
    for (std::size_t first = 0; first + block <= others.size(); first += block) {
        const auto scale = others.begin() + static_cast<std::ptrdiff_t>(first + scale_at);
        std::rotate(scale, scale + 1, others.begin() + static_cast<std::ptrdiff_t>(first + block));
    }
    return others;
}

// The codes of all rows as one stream of bits, each row of which begins a byte again.
std::vector<std::byte> split_into_rows(std::span<const std::byte> bytes, const TensorSpec& spec) {
    std::vector<std::byte> others(bytes.size());
    const auto bits = static_cast<std::size_t>(spec.columns * code_bits(spec.type));
    const std::size_t row_bits = (bits + 7) / 8 * 8;
    for (std::size_t row = 0; row < static_cast<std::size_t>(spec.rows); ++row)
        for (std::size_t bit = 0; bit < bits; ++bit) {
            const std::size_t from = row * bits + bit, to = row * row_bits + bit;
            others[to / 8] |= (bytes[from / 8] >> (from % 8) & std::byte{1}) << (to % 8);
        }
    return others;
}

// What of a code lies in the byte after its first one is not there.
Hypothesis cut_at_bytes(const Buffer& buffer) {
    const auto read = [buffer](std::span<const std::byte> bytes, std::span<CodeTensor> tensors) {
        collect(buffer, {bytes, {}}, {tensors, {}});
        CodeTensor& codes = tensors[buffer.tensor];
        const auto columns = static_cast<std::size_t>(codes.columns);
        const auto width = static_cast<std::size_t>(code_bits(buffer.spec.type));
        for (std::size_t i = 0; i < codes.count(); ++i)
            codes.set(i, codes.at(i) & ((1u << (8 - i % columns * width % 8)) - 1));
        return true;
    };
    return {"packing", "codes that end with their first byte", read};
}

std::vector<Hypothesis> packing_hypotheses(const Buffer& buffer) {
    const int width = code_bits(buffer.spec.type);
    const bool is_inline = buffer.spec.layout == "inline";
    const auto block = static_cast<std::size_t>(buffer.spec.column_stride);
    std::vector<Hypothesis> all;
    if (width == 4)
        all.push_back(repacked(buffer, "nibbles in the other order", [=](auto bytes) {
            return each_byte(bytes, [=](std::byte byte, std::size_t i) {
                return is_inline && i % block == block - 1 ? byte : byte << 4 | byte >> 4;
            });
        }));
    if (is_inline) {
        all.push_back(repacked(buffer, "the scale of a block before its codes",
                               [=](auto bytes) { return scales_to_the_end(bytes, block, 0); }));
        all.push_back(repacked(buffer, "the scale of a block amid its codes", [=](auto bytes) {
            return scales_to_the_end(bytes, block, (block - 1) / 2);
        }));
        return all;
    }
    if (width != 4 && width != 6) return all;
    all.push_back(repacked(buffer, "the bits of a byte in the other order", [](auto bytes) {
        return each_byte(bytes, [](std::byte byte, std::size_t) { return reversed(byte); });
    }));
    all.push_back(
        repacked(buffer, "rows that begin within a byte",
                 [spec = buffer.spec](auto bytes) { return split_into_rows(bytes, spec); }));
    if (width == 6) all.push_back(cut_at_bytes(buffer));
    return all;
}

void try_scales(const Buffer& buffer, const CodeTensor& scales, std::size_t bytes, const Try& t) {
    constexpr std::size_t scales_max = 1 << 24;
    if (bytes == 0 || scales.count() > scales_max || !buffer.groups.empty()) return;
    OtherPlaces others(*find_scale_layout(buffer.spec.layout), {scales.rows, scales.columns},
                       bytes);
    others.visit([&](const std::string& direction, const Places& places, const Places& right) {
        const auto read = [&](std::span<const std::byte> from, std::span<CodeTensor> tensors) {
            for (std::size_t i = 0; i < places.size(); ++i)
                tensors[buffer.tensor].set(i, std::to_integer<std::uint32_t>(from[places[i]]));
            return true;
        };
        t({"layout", direction, read, &places, &right});
    });
}

void try_all(const Buffer& buffer, std::span<const CodeTensor> tensors, std::size_t bytes,
             const Try& t) {
    if (is_strided(buffer.spec)) return;
    if (find_scale_layout(buffer.spec.layout) != nullptr)
        return try_scales(buffer, tensors[buffer.tensor], bytes, t);
    for (const Hypothesis& hypothesis : packing_hypotheses(buffer)) t(hypothesis);
}

// Differences in the bits of one output, whatever the flags; unwritten elements count.
std::uint64_t differences_in(const Evidence& e, std::size_t output) {
    std::uint64_t count = 0;
    for_each_difference(e, [&](const Difference& d) { count += d.output == output ? 1 : 0; });
    return count;
}

// The evidence with another answer, or with another expectation; its flags are clear, since a byte
// that differed between the runs may have been a pad.
Evidence trial_of(const Evidence& e) {
    Evidence trial;
    trial.c = e.c;
    trial.inputs = e.inputs;
    trial.expected = e.expected;
    trial.actual = e.actual;
    for (const CodeTensor& tensor : e.expected)
        trial.flags.emplace_back(tensor.count(), std::uint8_t{0});
    return trial;
}

// What explains everything, of which there may be more than one.
class Guess {
public:
    void add(const Hypothesis& hypothesis) {
        mismatch_class_ = hypothesis.mismatch_class;
        direction_ +=
            (direction_.empty() ? "" : std::string(layouts_between)) + hypothesis.direction;
    }
    void tell(std::size_t output, std::uint64_t count, std::vector<LayoutGuess>& guesses) const {
        if (direction_.empty()) return;
        guesses.push_back(
            {output, mismatch_class_, direction_,
             "all " + std::to_string(count) + " differences are explained by " + direction_});
    }

private:
    results::MismatchClass mismatch_class_ = "layout";
    std::string direction_;
};

// Where scales share a place, as at an offset that wraps, one of them is left there: which one is a
// matter of the device's order.
bool would_be_written(const Evidence& e, const Buffer& buffer, const Hypothesis& hypothesis) {
    if (hypothesis.places == nullptr) return false;
    const Places& right = *hypothesis.right;
    const std::size_t tensor = buffer.tensor;
    std::multimap<std::size_t, std::uint32_t> written;
    for (std::size_t i = 0; i < right.size(); ++i)
        written.emplace((*hypothesis.places)[i], e.expected[tensor].at(i));
    for (std::size_t i = 0; i < right.size(); ++i) {
        const auto [first, last] = written.equal_range(right[i]);
        const bool is_unwritten = (e.flags[tensor][i] & flag_unwritten) != 0;
        const std::uint32_t actual = e.actual[tensor].at(i);
        const bool is_as_written = std::any_of(
            first, last, [actual](const auto& place) { return place.second == actual; });
        if (first == last ? !is_unwritten && actual != 0 : is_unwritten || !is_as_written)
            return false;
    }
    return true;
}

// A buffer with inline scales holds two outputs, each explained or not. Where nothing but flags
// tells an output from the right one, any layout would explain it.
void guess_output(const Evidence& e, std::size_t index, const Buffer& buffer,
                  std::vector<LayoutGuess>& guesses) {
    const std::size_t end = buffer.tensor + buffer.tensors;
    std::map<std::size_t, std::uint64_t> counts;
    for (std::size_t tensor = buffer.tensor; tensor < end; ++tensor)
        if (differences_in(trial_of(e), tensor) > 0) counts[tensor] = differences_in(e, tensor);
    if (counts.empty()) return;
    const std::span<const std::byte> bytes = e.answer.outputs[index].bytes;
    std::map<std::size_t, Guess> of_tensors;
    try_all(buffer, e.expected, bytes.size(), [&](const Hypothesis& hypothesis) {
        Evidence trial = trial_of(e);
        if (!hypothesis.read(bytes, trial.actual)) return;
        for (const auto& [tensor, count] : counts)
            if (differences_in(trial, tensor) == 0 || would_be_written(e, buffer, hypothesis))
                of_tensors[tensor].add(hypothesis);
    });
    for (const auto& [tensor, guess] : of_tensors) guess.tell(tensor, counts[tensor], guesses);
}

void guess_input(const Evidence& e, const Buffer& buffer, std::vector<LayoutGuess>& guesses) {
    const std::uint64_t count = differences_in(e, 0);
    if (is_strided(buffer.spec) || differences_in(trial_of(e), 0) == 0) return;
    const std::vector<std::byte> bytes = lay_out(buffer, e.inputs, first_input_pad);
    Guess guess;
    try_all(buffer, e.inputs, bytes.size(), [&](const Hypothesis& hypothesis) {
        Evidence trial = trial_of(e);
        if (!hypothesis.read(bytes, trial.inputs)) return;
        trial.expected = expect(trial.c, trial.inputs);
        if (differences_in(trial, 0) == 0) guess.add(hypothesis);
    });
    guess.tell(0, count, guesses);
}

}  // namespace

std::vector<LayoutGuess> guess_layouts(const Evidence& e) {
    std::vector<LayoutGuess> guesses;
    const std::vector<Buffer> outputs = output_buffers(e.c);
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (!is_strided(outputs[i].spec)) guess_output(e, i, outputs[i], guesses);
    for (const Buffer& buffer : input_buffers(e.c))
        if (guesses.empty()) guess_input(e, buffer, guesses);
    return guesses;
}

}  // namespace mx
