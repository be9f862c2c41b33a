// request.hpp: every way in which a call can contradict itself, the header or this device.
// Used by plugin.cpp. Must not compute.
#include "device/cpu/request.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "device/cpu/rules.hpp"

namespace mx::cpu {
namespace {

std::string quoted(const char* text) {
    if (text == nullptr) return "NULL";
    std::string quote = "\"";
    quote.append(text).append("\"");
    return quote;
}
Refusal invalid(std::string reason) { return {MX_INVALID, std::move(reason)}; }
Refusal not_supported(std::string reason) { return {MX_NOT_SUPPORTED, std::move(reason)}; }

std::string_view text_of(const char* text) { return text == nullptr ? "" : text; }

// What a call says, before it is known to be consistent. Reading stops at the first refusal.
class Reader {
public:
    Reader(const Call& call, Buffers buffers) : call_(call), buffers_(buffers) {}

    bool refused() const { return refusal_.has_value(); }
    Refusal refusal() const { return *refusal_; }
    void refuse(Refusal refusal) {
        if (!refused()) refusal_ = std::move(refusal);
    }

    std::string_view operation_name() const { return text_of(call_.operation->name); }

    // Everything that is independent of the operation.
    void check_structs() {
        if (call_.operation == nullptr) return refuse(invalid("the operation is NULL"));
        if (call_.operation->struct_size < sizeof(mx_operation))
            return refuse(invalid("mx_operation.struct_size is smaller than this ABI's struct"));
        check_array("input", call_.inputs, call_.input_count);
        check_array("output", call_.outputs, call_.output_count);
    }

    struct Counts {
        std::size_t inputs;
        std::size_t outputs;
    };
    void expect(Counts counts) {
        if (refused()) return;
        if (call_.input_count == counts.inputs && call_.output_count == counts.outputs) return;
        refuse(invalid("operation " + quoted(call_.operation->name) + " takes " +
                       std::to_string(counts.inputs) + " inputs and " +
                       std::to_string(counts.outputs) + " outputs, not " +
                       std::to_string(call_.input_count) + " and " +
                       std::to_string(call_.output_count)));
    }

    const mx_tensor& input(std::size_t index) const { return at(call_.inputs, index); }
    const mx_tensor& output(std::size_t index) const { return at(call_.outputs, index); }

    ValueType value_type(const mx_tensor& tensor) {
        const auto type = find_value_type(text_of(tensor.type));
        if (!type) refuse(not_supported("values of type " + quoted(tensor.type)));
        return type.value_or(ValueType::f32);
    }
    void expect_type(const mx_tensor& tensor, std::string_view type) {
        if (text_of(tensor.type) == type) return;
        refuse(invalid("a tensor of type " + quoted(tensor.type) + " where " + std::string(type) +
                       " belongs"));
    }

    ElementType element_format() {
        const auto type = find_element_type(text_of(call_.operation->format));
        if (!type) refuse(not_supported("element format " + quoted(call_.operation->format)));
        return type.value_or(ElementType::e4m3);
    }
    ElementType block_format() {
        const auto type = find_block_format(text_of(call_.operation->format));
        if (!type) refuse(not_supported("block format " + quoted(call_.operation->format)));
        return type.value_or(ElementType::e4m3);
    }
    ScaleRule scale_rule(ElementType element) {
        const auto rule = find_scale_rule(text_of(call_.operation->dialect), element);
        if (!rule) refuse(not_supported("dialect " + quoted(call_.operation->dialect)));
        return rule.value_or(ScaleRule{});
    }
    // Where the dialect decides nothing it may be absent, but not unknown.
    void check_dialect() {
        if (call_.operation->dialect != nullptr) scale_rule(ElementType::e4m3);
    }
    OverflowMode overflow() {
        const std::string_view rounding = text_of(call_.operation->rounding);
        if (rounding != "nearest_even")
            refuse(not_supported("rounding " + quoted(call_.operation->rounding)));
        const std::string_view mode = text_of(call_.operation->overflow);
        if (mode == "saturate") return OverflowMode::saturate;
        if (mode != "overflow")
            refuse(not_supported("overflow mode " + quoted(call_.operation->overflow)));
        return OverflowMode::overflow;
    }

    enum class Axis { row, column };
    Axis axis() {
        const std::string_view name = text_of(call_.operation->axis);
        if (name != "row" && name != "col")
            refuse(not_supported("axis " + quoted(call_.operation->axis)));
        return name == "col" ? Axis::column : Axis::row;
    }

    void expect_same_shape(const mx_tensor& a, const mx_tensor& b) {
        if (a.rows == b.rows && a.columns == b.columns) return;
        refuse(invalid("input of " + shape(a) + " and output of " + shape(b) +
                       " should have one shape"));
    }
    void expect_scale_shape(const mx_tensor& elements, const mx_tensor& scales, Axis axis) {
        const bool row = axis == Axis::row;
        const std::int64_t lanes = row ? elements.columns : elements.rows;
        const std::int64_t blocks = lanes / block_size + (lanes % block_size != 0 ? 1 : 0);
        const bool good = row ? scales.rows == elements.rows && scales.columns == blocks
                              : scales.rows == blocks && scales.columns == elements.columns;
        if (!good)
            refuse(invalid("scales of " + shape(scales) + " do not belong to elements of " +
                           shape(elements) + " along axis " + quoted(call_.operation->axis)));
    }

private:
    // A newer host's tensors may be larger: their own size says where the next one begins.
    static const mx_tensor& at(const mx_tensor* first, std::size_t index) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(first);
        return *reinterpret_cast<const mx_tensor*>(bytes + index * first->struct_size);
    }
    static std::string shape(const mx_tensor& tensor) {
        return std::to_string(tensor.rows) + " x " + std::to_string(tensor.columns);
    }

    void check_array(const std::string& what, const mx_tensor* tensors, std::size_t count) {
        if (refused() || count == 0) return;
        if (tensors == nullptr) return refuse(invalid("the " + what + " tensors are NULL"));
        if (tensors->struct_size < sizeof(mx_tensor) ||
            tensors->struct_size % alignof(mx_tensor) != 0)
            return refuse(invalid("mx_tensor.struct_size of the first " + what +
                                  " is not that of this ABI's struct"));
        for (std::size_t i = 0; i < count && !refused(); ++i) {
            check_tensor(what + " " + std::to_string(i), at(tensors, i));
        }
    }

    void check_tensor(const std::string& what, const mx_tensor& tensor) {
        if (text_of(tensor.place) != "host")
            return refuse(not_supported(what + " lies in " + quoted(tensor.place) +
                                        ", and this device reads host memory only"));
        if (text_of(tensor.layout) != "strided")
            return refuse(not_supported(what + " has layout " + quoted(tensor.layout)));
        if (tensor.rows < 0 || tensor.columns < 0)
            return refuse(invalid(what + " has a negative shape, " + shape(tensor)));
        if (tensor.rows == 0 || tensor.columns == 0) return;
        if (!addressable(tensor))
            return refuse(invalid(what + " of " + shape(tensor) + " with strides " +
                                  std::to_string(tensor.row_stride) + " and " +
                                  std::to_string(tensor.column_stride) +
                                  " is larger than an address space"));
        if (buffers_ == Buffers::present && tensor.data == nullptr)
            refuse(invalid(what + " has no data"));
    }

    // True when the offset in bytes of every element, and their number, fit 64 bits.
    static bool addressable(const mx_tensor& tensor) {
        std::int64_t down = 0;
        std::int64_t across = 0;
        std::int64_t offset = 0;
        std::int64_t count = 0;
        constexpr std::int64_t widest = 4;
        return !__builtin_mul_overflow(tensor.rows, tensor.row_stride, &down) &&
               !__builtin_mul_overflow(tensor.columns, tensor.column_stride, &across) &&
               !__builtin_add_overflow(down, across, &offset) &&
               !__builtin_mul_overflow(offset, widest, &offset) &&
               !__builtin_mul_overflow(down, widest, &down) &&
               !__builtin_mul_overflow(across, widest, &across) &&
               !__builtin_mul_overflow(tensor.rows, tensor.columns, &count) &&
               !__builtin_mul_overflow(count, widest, &count);
    }

    Call call_;
    Buffers buffers_;
    std::optional<Refusal> refusal_;
};

Extent extent_of(const mx_tensor& tensor) { return {tensor.rows, tensor.columns}; }
ConstPlane input_plane(const mx_tensor& tensor) {
    return {static_cast<const std::uint8_t*>(tensor.data), tensor.row_stride,
            tensor.column_stride};
}
Plane output_plane(const mx_tensor& tensor) {
    return {static_cast<std::uint8_t*>(tensor.data), tensor.row_stride, tensor.column_stride};
}

// Blocks always run along the lanes: a columnwise tensor is seen transposed.
template <typename BlockJob, typename First, typename Second, typename Third>
void transpose(BlockJob& job, First& a, Second& b, Third& c) {
    std::swap(job.extent.lines, job.extent.lanes);
    std::swap(a.line_stride, a.lane_stride);
    std::swap(b.line_stride, b.lane_stride);
    std::swap(c.line_stride, c.lane_stride);
}

using Answer = std::variant<Job, Refusal>;

Answer answer(const Reader& reader, Job job) {
    if (reader.refused()) return reader.refusal();
    return job;
}

Answer convert_job(Reader& reader) {
    reader.expect({1, 1});
    if (reader.refused()) return reader.refusal();
    const mx_tensor& values = reader.input(0);
    const mx_tensor& codes = reader.output(0);
    const ElementType element = reader.element_format();
    reader.check_dialect();
    reader.expect_type(codes, element == ElementType::e4m3 ? "e4m3" : "e5m2");
    reader.expect_same_shape(values, codes);
    return answer(reader, ConvertJob{reader.value_type(values), element, reader.overflow(),
                                     extent_of(values), input_plane(values),
                                     output_plane(codes)});
}

Answer encode_scale_job(Reader& reader) {
    reader.expect({1, 1});
    if (reader.refused()) return reader.refusal();
    const mx_tensor& amax = reader.input(0);
    const mx_tensor& scales = reader.output(0);
    const ElementType element = reader.block_format();
    reader.expect_type(scales, "e8m0");
    reader.expect_same_shape(amax, scales);
    return answer(reader, EncodeScaleJob{reader.value_type(amax), reader.scale_rule(element),
                                         extent_of(amax), input_plane(amax),
                                         output_plane(scales)});
}

Answer quantize_job(Reader& reader) {
    reader.expect({1, 2});
    if (reader.refused()) return reader.refusal();
    const mx_tensor& values = reader.input(0);
    const mx_tensor& codes = reader.output(0);
    const mx_tensor& scales = reader.output(1);
    const ElementType element = reader.block_format();
    const Reader::Axis axis = reader.axis();
    reader.expect_type(codes, element == ElementType::e4m3 ? "e4m3" : "e5m2");
    reader.expect_type(scales, "e8m0");
    reader.expect_same_shape(values, codes);
    reader.expect_scale_shape(codes, scales, axis);
    QuantizeJob job{reader.value_type(values),   element,
                    reader.scale_rule(element),  extent_of(values),
                    input_plane(values),         output_plane(codes),
                    output_plane(scales)};
    if (axis == Reader::Axis::column) transpose(job, job.values, job.codes, job.scales);
    return answer(reader, job);
}

Answer dequantize_job(Reader& reader) {
    reader.expect({2, 1});
    if (reader.refused()) return reader.refusal();
    const mx_tensor& codes = reader.input(0);
    const mx_tensor& scales = reader.input(1);
    const mx_tensor& values = reader.output(0);
    const ElementType element = reader.block_format();
    const Reader::Axis axis = reader.axis();
    reader.check_dialect();
    reader.expect_type(codes, element == ElementType::e4m3 ? "e4m3" : "e5m2");
    reader.expect_type(scales, "e8m0");
    reader.expect_same_shape(codes, values);
    reader.expect_scale_shape(codes, scales, axis);
    DequantizeJob job{element,
                      reader.value_type(values),
                      extent_of(codes),
                      input_plane(codes),
                      input_plane(scales),
                      output_plane(values)};
    if (axis == Reader::Axis::column) transpose(job, job.values, job.codes, job.scales);
    return answer(reader, job);
}

}  // namespace

Answer job_of(const Call& call, Buffers buffers) {
    Reader reader(call, buffers);
    reader.check_structs();
    if (reader.refused()) return reader.refusal();
    const std::string_view name = reader.operation_name();
    if (name == "convert") return convert_job(reader);
    if (name == "encode_scale") return encode_scale_job(reader);
    if (name == "quantize") return quantize_job(reader);
    if (name == "dequantize") return dequantize_job(reader);
    return not_supported("operation " + quoted(call.operation->name));
}

}  // namespace mx::cpu
