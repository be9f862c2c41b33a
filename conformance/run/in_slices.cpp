// See in_slices.hpp.
#include "conformance/run/in_slices.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "conformance/data/repeated_source.hpp"
#include "conformance/run/clusters.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/judge.hpp"
#include "conformance/run/site.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/call_buffers.hpp"
#include "device/host/layout.hpp"
#include "reference/base/text.hpp"
#include "reference/problem/problem.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;
using Bytes = std::vector<std::byte>;
using Span = std::span<const std::byte>;

// Slices whose differences are classified; of the others they are counted.
constexpr std::size_t slices_kept_max = 16;

// Rows that hold whole blocks and, where scales lie in tiles of up to 128 rows, whole tiles.
std::int64_t rows_of_stripe(const Case& c) {
    const std::int64_t rows = c.axis == BlockAxis::row ? 1 : c.block;
    return c.scales == ScaleStorage::linear ? rows : std::lcm(rows, std::int64_t{128});
}

// The rows after which the blocks of the case begin again. Its data are a repetition.
std::int64_t rows_of_period(const Case& c, const Repetition& data) {
    Case stripe = c;
    stripe.rows = rows_of_stripe(c);
    const auto blocks = static_cast<std::uint64_t>(block_grid(stripe).count());
    if (blocks == 0) return 0;
    return stripe.rows * static_cast<std::int64_t>(data.blocks / std::gcd(data.blocks, blocks));
}

bool is_stacked(const Case& c) {
    const bool is_along_rows =
        c.axis == BlockAxis::row || c.axis == BlockAxis::col || c.axis == BlockAxis::tile;
    return is_along_rows && !is_gemm(c) && c.layout == RowLayout::dense &&
           stochastic_form_of(c) == nullptr;
}

// A buffer, of the whole tensor and of one period: it repeats, or stands there once, as the number
// of a tensor does.
struct Repeated {
    Buffer part;
    std::size_t extent = 0;  // of the part
    bool is_once = false;
    Bytes bytes = {};  // of the part
};

Expected<std::vector<Repeated>> repeated(const std::vector<Buffer>& whole,
                                         const std::vector<Buffer>& parts, std::size_t slices) {
    std::vector<Repeated> buffers;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto all = byte_extent(whole[i].spec), one = byte_extent(parts[i].spec);
        if (!all) return all.error();
        if (!one) return one.error();
        const bool is_once = all.value() == one.value();
        if (!is_once && all.value() != one.value() * slices)
            return bad_input("data=repeat: the tensor " + to_text(whole[i].spec) +
                             " does not repeat");
        buffers.push_back({parts[i], one.value(), is_once});
    }
    return buffers;
}

Bytes bytes_of(const Buffer& buffer, const std::vector<CodeTensor>& tensors) {
    return is_strided(buffer.spec) ? tensors[buffer.tensor].bytes
                                   : lay_out(buffer, tensors, std::byte{0});
}

std::size_t unit_of(const Repeated& buffer) {
    return is_strided(buffer.part.spec) ? element_width(buffer.part.spec.type) : 1;
}

// What a slice that is not classified comes to in one run.
struct Count {
    std::uint64_t differing = 0;
    std::uint64_t poisoned = 0;  // of these, that hold what they held before
    bool operator==(const Count&) const = default;
};
Count count_of(Span actual, Span expected, std::size_t unit, std::byte poison) {
    Count count;
    for (std::size_t at = 0; at < actual.size(); at += unit) {
        if (std::memcmp(&actual[at], &expected[at], unit) == 0) continue;
        ++count.differing;
        const auto element = actual.subspan(at, unit);
        count.poisoned += std::ranges::count(element, poison) > 0 ? 1 : 0;
    }
    return count;
}

std::uint64_t exponent_of_two(std::uint64_t number) {
    return std::has_single_bit(number) ? static_cast<std::uint64_t>(std::countr_zero(number)) : 0;
}

class SlicesJudge {
public:
    SlicesJudge(const Case& c, CaseResult& result) : c_(c), result_(result) {}

    Status prepare(Sources& sources) {
        const auto data = repetition_of(c_);
        if (!data) return data.error();
        period_ = c_;
        period_.rows = rows_of_period(c_, data.value());
        if (c_.rows % period_.rows != 0)
            return bad_input("data=repeat: of " + std::to_string(c_.rows) +
                             " rows, which are no whole number of periods of " +
                             std::to_string(period_.rows));
        slices_ = static_cast<std::size_t>(c_.rows / period_.rows);
        const auto source = sources.open(period_);
        if (!source) return source.error();
        auto inputs = repeated(input_buffers(c_), input_buffers(period_), slices_);
        if (!inputs) return inputs.error();
        auto outputs = repeated(output_buffers(c_), output_buffers(period_), slices_);
        if (!outputs) return outputs.error();
        inputs_ = std::move(inputs).value();
        outputs_ = std::move(outputs).value();
        input_tensors_ = make_inputs(period_, *source.value());
        expected_ = expect(period_, input_tensors_);
        for (Repeated& input : inputs_) input.bytes = bytes_of(input.part, input_tensors_);
        for (Repeated& output : outputs_) output.bytes = bytes_of(output.part, expected_);
        beyond_.resize(outputs_.size());
        return success();
    }

    void ask(const Client& client) {
        answer_ = client.ask_in_place(
            question_without_data(c_),
            {[this](CallInPlace::Buffers inputs) { fill(inputs); },
             [this](CallInPlace::Buffers inputs, CallInPlace::Buffers outputs, std::byte poison) {
                 look_at_inputs(inputs);
                 poison == first_poison ? look_first(outputs) : look_again(outputs);
             }});
        answer_.findings.modified_inputs = modified_;
    }

    const DeviceAnswer& answer() const { return answer_; }

    // Of an answer that is there.
    void judge() {
        judge_right_period();
        for (auto& [slice, kept] : kept_) judge_slice(slice, kept);
        for (std::size_t output = 0; output < outputs_.size(); ++output) add_beyond(output);
        result_.mismatches = largest_first(std::move(result_.mismatches));
        const Verdict of_bits = verdict_of_mismatches(result_);
        if (result_.verdict != Verdict::oracle_disagreement && of_bits != Verdict::pass_exact)
            result_.verdict = of_bits;
        if (of_bits != Verdict::pass_exact && result_.reason.empty()) result_.reason = first_text();
    }

private:
    struct Kept {
        std::vector<Bytes> first;  // of each output
        std::vector<OutputTensor> outputs = {};
    };
    struct Beyond {
        std::map<std::size_t, Count> first = {};  // by slice
        std::uint64_t differing = 0, unwritten = 0, flaky = 0;
    };

    template <typename Element>
    static std::span<Element> slice_of(std::span<Element> whole, const Repeated& buffer,
                                       std::size_t slice) {
        return whole.subspan(buffer.is_once ? 0 : slice * buffer.extent, buffer.extent);
    }
    static bool is_right(Span whole, const Repeated& buffer, std::size_t slice) {
        return std::ranges::equal(slice_of(whole, buffer, slice), buffer.bytes);
    }

    void fill(CallInPlace::Buffers inputs) const {
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            for (std::size_t slice = 0; slice < (inputs_[i].is_once ? 1 : slices_); ++slice)
                std::ranges::copy(inputs_[i].bytes, slice_of(inputs[i], inputs_[i], slice).begin());
    }

    // Inputs that were written are told once, and are as before for the second run.
    void look_at_inputs(CallInPlace::Buffers inputs) {
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            ModifiedInput found{i, 0, 0};
            const std::size_t unit = unit_of(inputs_[i]);
            for (std::size_t slice = 0; slice < (inputs_[i].is_once ? 1 : slices_); ++slice) {
                const std::span<std::byte> now = slice_of(inputs[i], inputs_[i], slice);
                if (is_right(inputs[i], inputs_[i], slice)) continue;
                for (std::size_t at = 0; at < now.size(); at += unit) {
                    if (std::memcmp(&now[at], &inputs_[i].bytes[at], unit) == 0) continue;
                    if (found.count++ == 0)
                        found.first_element = (slice * inputs_[i].extent + at) / unit;
                }
                std::ranges::copy(inputs_[i].bytes, now.begin());
            }
            const auto is_known = [i](const ModifiedInput& known) { return known.tensor == i; };
            if (found.count > 0 && std::ranges::none_of(modified_, is_known))
                modified_.push_back(found);
        }
    }

    bool is_right_slice(CallInPlace::Buffers outputs, std::size_t slice) const {
        for (std::size_t i = 0; i < outputs_.size(); ++i)
            if (!is_right(outputs[i], outputs_[i], slice)) return false;
        return true;
    }

    void look_first(CallInPlace::Buffers outputs) {
        for (std::size_t slice = 0; slice < slices_; ++slice) {
            if (is_right_slice(outputs, slice)) continue;
            if (kept_.size() < slices_kept_max) {
                Kept& kept = kept_[slice];
                for (std::size_t i = 0; i < outputs_.size(); ++i) {
                    const Span bytes = slice_of(Span(outputs[i]), outputs_[i], slice);
                    kept.first.emplace_back(bytes.begin(), bytes.end());
                }
                continue;
            }
            for (std::size_t i = 0; i < outputs_.size(); ++i)
                beyond_[i].first[slice] = counted(outputs, i, slice, first_poison);
        }
    }

    Count counted(CallInPlace::Buffers outputs, std::size_t i, std::size_t slice,
                  std::byte poison) const {
        return count_of(slice_of(Span(outputs[i]), outputs_[i], slice), outputs_[i].bytes,
                        unit_of(outputs_[i]), poison);
    }

    // What is right in the first run and not in the second is looked at as well.
    void look_again(CallInPlace::Buffers outputs) {
        for (std::size_t slice = 0; slice < slices_; ++slice) {
            const bool is_known = kept_.contains(slice);
            const bool was_counted = beyond_[0].first.contains(slice);
            if (!is_known && !was_counted && is_right_slice(outputs, slice)) continue;
            if (!is_known && !was_counted && kept_.size() < slices_kept_max)
                for (const Repeated& output : outputs_) kept_[slice].first.push_back(output.bytes);
            if (kept_.contains(slice))
                flag(outputs, slice);
            else
                count_again(outputs, slice);
        }
    }

    void flag(CallInPlace::Buffers outputs, std::size_t slice) {
        Kept& kept = kept_[slice];
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            OutputTensor output;
            output.bytes = std::move(kept.first[i]);
            output.flags.resize(output.bytes.size() / unit_of(outputs_[i]));
            flag_differences(output, slice_of(Span(outputs[i]), outputs_[i], slice),
                             unit_of(outputs_[i]));
            kept.outputs.push_back(std::move(output));
        }
    }

    void count_again(CallInPlace::Buffers outputs, std::size_t slice) {
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            const Count first = beyond_[i].first[slice];
            const Count second = counted(outputs, i, slice, second_poison);
            const std::uint64_t unwritten = std::min(first.poisoned, second.poisoned);
            beyond_[i].unwritten += unwritten;
            if (first.differing == second.differing)
                beyond_[i].differing += first.differing - unwritten;
            else
                beyond_[i].flaky += std::max(first.differing, second.differing) - unwritten;
        }
    }

    Evidence evidence_of(std::vector<OutputTensor> outputs) const {
        Evidence evidence;
        evidence.c = period_;
        evidence.inputs = input_tensors_;
        evidence.expected = expected_;
        evidence.answer.kind = AnswerKind::answered;
        evidence.answer.outputs = std::move(outputs);
        read_answer(evidence);
        return evidence;
    }

    // As if all were right: what is counted of each period, and whether it could have failed.
    void judge_right_period() {
        std::vector<OutputTensor> outputs;
        for (const Repeated& output : outputs_) {
            outputs.push_back({output.bytes, {}});
            outputs.back().flags.resize(output.bytes.size() / unit_of(output));
        }
        Evidence evidence = evidence_of(std::move(outputs));
        evidence.answer.findings = answer_.findings;
        judge_bits(evidence, {}, result_);
        result_.elements *= slices_;
        result_.scales *= slices_;
        result_.expected_scale_codes.clear();  // of one period, and no more
    }

    void judge_slice(std::size_t slice, Kept& kept) {
        const Evidence evidence = evidence_of(std::move(kept.outputs));
        CaseResult part;
        judge_bits(evidence, {}, part);
        if (part.verdict == Verdict::oracle_disagreement) {
            result_.verdict = part.verdict;
            result_.reason = part.reason;
        }
        result_.mismatched_elements += part.mismatched_elements;
        result_.mismatched_scales += part.mismatched_scales;
        for (Mismatch& m : part.mismatches) {
            m.block += slice * static_cast<std::uint64_t>(block_grid(period_).count());
            m.of = m.stage == "scale" ? result_.scales : result_.elements;
            add(std::move(m));
        }
    }

    void add(Mismatch m) {
        for (Mismatch& known : result_.mismatches)
            if (known.mismatch_class == m.mismatch_class && known.direction == m.direction &&
                known.stage == m.stage && known.open_decision == m.open_decision) {
                known.count += m.count;
                for (std::size_t lane = 0; lane < known.lanes.size(); ++lane)
                    known.lanes[lane] += m.lanes[lane];
                return;
            }
        if (const std::uint64_t power = exponent_of_two(m.block); power >= 16)
            m.note += (m.note.empty() ? "" : "; ") + std::string("first in block 2^") +
                      std::to_string(power);
        result_.mismatches.push_back(std::move(m));
    }

    void add_beyond(std::size_t output) {
        const Beyond& beyond = beyond_[output];
        const bool is_of_scales = holds_scales(c_, outputs_[output].part.tensor);
        const auto add_count = [&](results::MismatchClass kind, std::uint64_t count,
                                   const char* direction) {
            if (count == 0) return;
            Mismatch m;
            m.mismatch_class = kind.name;
            m.stage = "buffer";
            m.direction = direction;
            m.count = count;
            m.of = is_of_scales ? result_.scales : result_.elements;
            if (beyond.first.empty()) return;
            m.block = beyond.first.begin()->first *
                      static_cast<std::uint64_t>(block_grid(period_).count());
            m.note =
                "in slices beyond the first " + std::to_string(slices_kept_max) + " that differ";
            (is_of_scales ? result_.mismatched_scales : result_.mismatched_elements) += count;
            add(std::move(m));
        };
        add_count("unwritten", beyond.unwritten, "never written");
        add_count("unclassified", beyond.differing, "beyond the slices looked at");
        add_count("flaky", beyond.flaky, "differs between two runs");
    }

    std::string first_text() const {
        std::uint64_t first = UINT64_MAX;
        for (const Mismatch& m : result_.mismatches)
            if (m.stage != "buffer" || m.mismatch_class == "unwritten")
                first = std::min(first, m.block);
        return first == UINT64_MAX
                   ? ""
                   : "the first block that differs is " + grouped(first) + " of " +
                         grouped(static_cast<std::uint64_t>(block_grid(c_).count()));
    }

    const Case& c_;
    CaseResult& result_;
    Case period_;
    std::size_t slices_ = 0;  // periods
    std::vector<Repeated> inputs_, outputs_;
    std::vector<CodeTensor> input_tensors_, expected_;  // of a period
    DeviceAnswer answer_;
    std::vector<ModifiedInput> modified_;
    std::map<std::size_t, Kept> kept_;
    std::vector<Beyond> beyond_;  // by output
};

}  // namespace

bool is_judged_in_slices(const Case& c) {
    if (!is_repeated(c) || !is_stacked(c)) return false;
    const auto data = repetition_of(c);
    if (!data) return false;
    const std::int64_t rows = rows_of_period(c, data.value());
    return rows > 0 && c.rows >= 2 * rows;
}

Expected<std::size_t> bytes_of_call(const Case& c) {
    return bytes_of_call(question_without_data(c));
}

Status judge_in_slices(const Case& c, const Client& client, Sources& sources, CaseResult& result) {
    if (const std::string unknown = unknown_scale(c); !unknown.empty()) {
        result.verdict = Verdict::not_supported;
        result.reason = unknown;
        return success();
    }
    SlicesJudge judge(c, result);
    if (const Status prepared = judge.prepare(sources); !prepared) return prepared;
    judge.ask(client);
    result.verdict = verdict_of(judge.answer().kind);
    result.reason = judge.answer().reason;
    if (judge.answer().kind == AnswerKind::answered) judge.judge();
    return success();
}

}  // namespace mx
