// See quantize_tensor.hpp.
#include "conformance/emulate/quantize_tensor.hpp"

#include "conformance/case/names.hpp"
#include "conformance/data/philox.hpp"
#include "conformance/data/tensor_file.hpp"
#include "conformance/data/tensor_number.hpp"
#include "conformance/emulate/block_counter.hpp"
#include "conformance/emulate/stored_tensors.hpp"
#include "conformance/oracle/oracle_status.hpp"
#include "conformance/run/expected.hpp"
#include "reference/fast/delayed_scaling.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/problem/problem.hpp"

namespace mx::emulate {
namespace {

// Counts what happened to one slice.
void count_slice(const Problem& p, const CodeTensor& input, const std::vector<CodeTensor>& outputs,
                 QuantizeCounts& counts) {
    const ElementFormat& type = p.type;
    BlockCounter counter(rules_of(p), *p.format, counts);
    const Blocking blocking = blocking_of(p);
    const std::int64_t blocks = block_grid(blocking).count();
    for (std::int64_t block = 0; block < blocks; ++block) {
        const BlockPlace place = place_of(blocking, block);
        const Code scale{outputs[1].at(static_cast<std::size_t>(block))};
        counter.add_scale(scale);
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t at = place.element(lane);
            counter.add_element(scale, fast::unpack(type, Code{input.at(at)}),
                                Code{outputs[0].at(at)});
        }
    }
}

// The same under scales with a mantissa. The input is what a rotation has left of it, and the
// tensor's number is given where there is one.
void count_slice_of_real_scales(const Problem& p, const CodeTensor& input,
                                const std::vector<CodeTensor>& outputs, QuantizeCounts& counts) {
    const fast::BlockQuestion question{*p.dialect, *p.format, p.type,
                                       numbers_of(p, p.tensor_number.value_or(0))};
    const ElementFormat& element = p.format->element();
    const Blocking blocking = blocking_of(p);
    for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
        const BlockPlace place = place_of(blocking, block);
        const auto lane_at = [&](int lane) {
            return fast::read_input(p.dialect->subnormals, p.type,
                                    Code{input.at(place.element(lane))});
        };
        std::vector<std::uint32_t> lanes;
        for (int lane = 0; lane < place.count; ++lane)
            lanes.push_back(input.at(place.element(lane)));
        const fast::Unpacked amax = fast::amax_of(*p.dialect, p.type, lanes.data(), place.count);
        const fast::BlockScale scale = fast::chosen_scale(question, amax, place.count, lane_at);
        ++counts.blocks;
        if (p.format->scale().is_nan(scale.stored)) ++counts.nan_scales;
        for (int lane = 0; lane < place.count; ++lane) {
            const fast::Unpacked value = lane_at(lane);
            ++counts.elements;
            if (element.is_zero(Code{outputs[0].at(place.element(lane))}) && !fast::is_zero(value))
                ++counts.flushed;
            fast::Unpacked scaled = fast::scaled_lane(*p.dialect, scale, value);
            scaled.negative = false;
            if (scaled.kind != fast::Kind::nan &&
                fast::f32_code(scaled) > fast::f32_code(fast::largest_of(element)))
                ++counts.saturated;
        }
    }
}

// The scale that the history gives, once it has moved on by one step.
Expected<std::uint32_t> scale_from_history(const Problem& p, const QuantizeOptions& options) {
    if (options.history.empty())
        return bad_input(
            "dialect " + std::string(p.dialect->name) +
            " takes its scale from earlier tensors: give --amax-history, the newest first");
    std::vector<std::uint32_t> history;
    for (const Code amax : options.history) {
        if (formats::f32.is_negative(amax) && !formats::f32.is_nan(amax))
            return bad_input("--amax-history has a negative number, which no amax is");
        history.push_back(amax.bits);
    }
    return fast::next_history(options.delayed, p.format->element(), history.data(),
                              static_cast<int>(history.size()), options.previous_scale)
        .bits;
}

// One tensor on its way, slice by slice.
class TensorQuantizer {
public:
    TensorQuantizer(const Problem& p, const BlockLayout& layout, std::vector<std::byte>& values)
        : p_(p), count_(layout.blocks() == 0 ? 0 : layout.slices), values_(values) {
        if (count_ < 2) return;  // one slice is moved into place
        codes_.elements.reserve(static_cast<std::size_t>(layout.elements()));
        codes_.scales.reserve(static_cast<std::size_t>(layout.blocks()));
    }

    void run(std::uint64_t seed) {
        if (has_tensor_number(p_) && !p_.tensor_number) p_.tensor_number = amax();
        for (std::int64_t index = 0; index < count_; ++index) quantize({index, count_}, seed);
        if (has_tensor_number(p_)) keep_number();
    }

    Codes take_codes() { return std::move(codes_); }
    const QuantizeCounts& counts() const { return counts_; }

private:
    // Of all slices, each as it is quantized.
    std::uint32_t amax() {
        std::vector<std::uint32_t> codes;
        for (std::int64_t index = 0; index < count_; ++index) {
            CodeTensor slice = take_slice(values_, shape_of(p_, Part::values), {index, count_});
            codes.push_back(derived_amax(p_, slice));
            if (count_ == 1) values_ = std::move(slice.bytes);  // it was moved
        }
        return fast::f32_code(fast::amax_of(rules_of_tensor_amax(*p_.dialect), formats::f32,
                                            codes.data(), static_cast<std::int64_t>(codes.size())));
    }

    void quantize(Slice slice, std::uint64_t seed) {
        std::vector<CodeTensor> inputs;
        for (const Part part : inputs_of(p_)) {
            if (part == Part::values) {
                inputs.push_back(take_slice(values_, shape_of(p_, part), slice));
                continue;
            }
            inputs.push_back(make_tensor(shape_of(p_, part)));
            if (part == Part::tensor_number) inputs.back().set(0, *p_.tensor_number);
            if (part == Part::random_bits) fill_random_bits(inputs.back(), slice, seed);
        }
        std::vector<CodeTensor> outputs = expect(p_, inputs);
        CodeTensor rotated;
        if (p_.format->has_e8m0_scales())
            count_slice(p_, inputs[0], outputs, counts_);
        else
            count_slice_of_real_scales(p_, transformed(p_, inputs[0], rotated), outputs, counts_);
        append(codes_.elements, std::move(outputs[0].bytes));
        append(codes_.scales, std::move(outputs[1].bytes));
    }

    // A word for each element of the whole tensor.
    static void fill_random_bits(CodeTensor& words, Slice slice, std::uint64_t seed) {
        const std::uint64_t first = static_cast<std::uint64_t>(slice.index) * words.count();
        for (std::size_t i = 0; i < words.count(); ++i)
            words.set(i, philox({seed, 0, first + i})[0]);
    }

    void keep_number() {
        const fast::TensorNumbers numbers = numbers_of(p_, *p_.tensor_number);
        CodeTensor kept = make_tensor(shape_of(p_, Part::tensor_number));
        kept.set(0, fast::f32_code(fast::kept_number(*p_.dialect, numbers)));
        codes_.tensor_number = std::move(kept.bytes);
    }

    Problem p_;
    std::int64_t count_;
    std::vector<std::byte>& values_;
    Codes codes_;
    QuantizeCounts counts_;
};

}  // namespace

Expected<QuantizedTensor> quantize_tensor(data::HostTensor tensor, const BlockNames& names,
                                          const QuantizeOptions& options) {
    if (const Status sound = oracle_status(); !sound) return sound.error();
    const Status known = data::check_value_type(tensor.type);
    if (!known) return known.error();
    if (const Status valid = check_names(names); !valid) return valid.error();
    const auto layout = layout_of(tensor.shape, block_shape(names));
    if (!layout) return layout.error();
    Problem p = problem_of_slice(names, layout.value(), OperationKind::quantize);
    p.type = *find_element_format(tensor.type);
    if (const Status valid = check_combination(p); !valid) return valid.error();
    if (const std::string unknown = unknown_scale(p); !unknown.empty()) return bad_input(unknown);
    if (p.dialect->tensor_scale == TensorScale::history) {
        const auto scale = scale_from_history(p, options);
        if (!scale) return scale.error();
        p.tensor_number = scale.value();
    } else if (!options.history.empty()) {
        return bad_input("dialect " + names.dialect +
                         " looks at no earlier tensors: leave out --amax-history");
    }

    TensorQuantizer quantizer(p, layout.value(), tensor.bytes);
    quantizer.run(options.seed);
    tensor.bytes = {};
    QuantizedTensor result;
    result.counts = quantizer.counts();
    result.file.tensors = store(quantizer.take_codes(), names, layout.value());
    result.file.metadata = metadata_of({names, tensor.type, tensor.shape}, options.program_version);
    return result;
}

}  // namespace mx::emulate
