// request.hpp: the operations, each as the tensors and names that it takes; the first thing that is
// wrong becomes the answer.
#include "device/cuda/request.hpp"

#include <optional>
#include <utility>

#include "device/cuda/rules.hpp"
#include "device/cuda/tensors.hpp"

namespace mx::cuda {
namespace {

struct Shape {
    std::int64_t rows;
    std::int64_t columns;
};
struct Counts {
    std::size_t inputs;
    std::size_t outputs;
};
struct Blocks {
    Axis axis;
    std::int64_t size;

    std::int64_t rows() const { return axis == Axis::row ? 1 : size; }
    std::int64_t columns() const { return axis == Axis::column ? 1 : size; }
};

std::int64_t blocks_in(std::int64_t length, std::int64_t block) {
    return length / block + (length % block != 0 ? 1 : 0);
}

class Reader {
public:
    Reader(const Call& call, Buffers buffers) : call_(call), buffers_(buffers) {}

    const std::optional<Refusal>& refusal() const { return refusal_; }
    const mx_operation& operation() const { return *call_.operation; }
    const mx_tensor& input(std::size_t index) const { return tensor_at(call_.inputs, index); }
    const mx_tensor& output(std::size_t index) const { return tensor_at(call_.outputs, index); }

    void invalid(std::string reason) { refuse({MX_INVALID, std::move(reason)}); }
    void not_supported(std::string reason) { refuse({MX_NOT_SUPPORTED, std::move(reason)}); }

    void check_structs();
    bool has(Counts counts);
    ValueType values(const mx_tensor& tensor);
    Plane codes(const mx_tensor& tensor, std::string_view type, Shape shape);
    ScalePlane scales(const mx_tensor& tensor, const mx_tensor& elements, const Blocks& blocks);
    Element block_format();
    DialectRule dialect_rule(Element element);
    void check_dialect();
    Blocks blocks();
    void expect_shape(const mx_tensor& tensor, Shape wanted);

private:
    void refuse(Refusal refusal) {
        if (!refusal_) refusal_ = std::move(refusal);
    }
    void check_array(const std::string& what, const mx_tensor* tensors, std::size_t count);
    void check_tensor(const std::string& what, const mx_tensor& tensor);

    Call call_;
    Buffers buffers_;
    std::optional<Refusal> refusal_;
};

void Reader::check_structs() {
    if (call_.operation == nullptr) return invalid("the operation is NULL");
    if (call_.operation->struct_size < sizeof(mx_operation))
        return invalid("mx_operation.struct_size is smaller than this ABI's struct");
    check_array("input", call_.inputs, call_.input_count);
    check_array("output", call_.outputs, call_.output_count);
}

void Reader::check_array(const std::string& what, const mx_tensor* tensors, std::size_t count) {
    if (refusal_ || count == 0) return;
    if (tensors == nullptr) return invalid("the " + what + " tensors are NULL");
    if (tensors->struct_size < sizeof(mx_tensor) || tensors->struct_size % alignof(mx_tensor) != 0)
        return invalid("mx_tensor.struct_size of the first " + what +
                       " is not that of this ABI's struct");
    for (std::size_t i = 0; i < count && !refusal_; ++i)
        check_tensor(what + " " + std::to_string(i), tensor_at(tensors, i));
}

void Reader::check_tensor(const std::string& what, const mx_tensor& tensor) {
    if (text_of(tensor.place) != "host" && text_of(tensor.place) != "cuda")
        return not_supported(what + " lies in " + quoted(tensor.place) +
                             ", and this device takes \"host\" and \"cuda\"");
    const Layout* layout = find_layout(text_of(tensor.layout));
    if (layout == nullptr)
        return not_supported(what + " has layout " + quoted(tensor.layout) +
                             "; the GPU kernels write strided codes, and scales that are strided,"
                             " 128x4 or te-padded");
    if (tensor.rows < 0 || tensor.columns < 0)
        return invalid(what + " has a negative shape, " + shape_text(tensor));
    if (!is_addressable(tensor, *layout))
        return invalid(what + " of " + shape_text(tensor) + " with strides " +
                       std::to_string(tensor.row_stride) + " and " +
                       std::to_string(tensor.column_stride) +
                       " is larger than an address space, or runs backwards");
    const bool is_empty = tensor.rows == 0 || tensor.columns == 0;
    if (buffers_ == Buffers::present && tensor.data == nullptr && !is_empty)
        invalid(what + " has no data");
}

bool Reader::has(Counts counts) {
    if (call_.input_count != counts.inputs || call_.output_count != counts.outputs)
        invalid("operation " + quoted(operation().name) + " takes " +
                std::to_string(counts.inputs) + " inputs and " + std::to_string(counts.outputs) +
                " outputs, not " + std::to_string(call_.input_count) + " and " +
                std::to_string(call_.output_count));
    return !refusal_;
}

ValueType Reader::values(const mx_tensor& tensor) {
    const auto type = find_value_type(text_of(tensor.type));
    if (!type) not_supported("values of type " + quoted(tensor.type));
    if (text_of(tensor.layout) != "strided") invalid("values in layout " + quoted(tensor.layout));
    return type.value_or(ValueType::f32);
}

Plane Reader::codes(const mx_tensor& tensor, std::string_view type, Shape shape) {
    if (text_of(tensor.type) != type)
        invalid("a tensor of type " + quoted(tensor.type) + " where " + std::string(type) +
                " belongs");
    if (text_of(tensor.layout) != "strided")
        invalid("codes of type " + quoted(tensor.type) + " in layout " + quoted(tensor.layout));
    expect_shape(tensor, shape);
    return plane_of(tensor);
}

void Reader::expect_shape(const mx_tensor& tensor, Shape wanted) {
    if (tensor.rows == wanted.rows && tensor.columns == wanted.columns) return;
    invalid("a tensor of type " + quoted(tensor.type) + " is " + shape_text(tensor) +
            " and should be " + std::to_string(wanted.rows) + " x " +
            std::to_string(wanted.columns));
}

ScalePlane Reader::scales(const mx_tensor& tensor, const mx_tensor& elements,
                          const Blocks& blocks) {
    if (text_of(tensor.type) != "e8m0")
        invalid("a tensor of type " + quoted(tensor.type) + " where e8m0 belongs");
    expect_shape(tensor, {blocks_in(elements.rows, blocks.rows()),
                          blocks_in(elements.columns, blocks.columns())});
    const Layout* layout = find_layout(text_of(tensor.layout));
    if (layout == nullptr) return {};
    if (!layout->axis.empty() && layout->axis != text_of(operation().axis))
        invalid("layout " + quoted(tensor.layout) + " is not for scales along axis " +
                quoted(operation().axis));
    return scale_plane_of(tensor, *layout, blocks.axis);
}

Element Reader::block_format() {
    const auto element = find_block_format(text_of(operation().format));
    if (!element) not_supported("block format " + quoted(operation().format));
    return element.value_or(Element::e4m3);
}

DialectRule Reader::dialect_rule(Element element) {
    const auto rule = find_dialect_rule(text_of(operation().dialect), element);
    if (!rule && knows_dialect(text_of(operation().dialect)))
        not_supported("dialect " + quoted(operation().dialect) + " has no format " +
                      quoted(operation().format));
    else if (!rule)
        not_supported("the GPU kernels have no dialect " + quoted(operation().dialect));
    return rule.value_or(DialectRule{});
}

// Where the dialect decides nothing it may be absent, but not unknown.
void Reader::check_dialect() {
    if (operation().dialect != nullptr && !knows_dialect(operation().dialect))
        not_supported("the GPU kernels have no dialect " + quoted(operation().dialect));
}

Blocks Reader::blocks() {
    const std::string_view name = text_of(operation().axis);
    if (name != "row" && name != "col" && name != "tile")
        not_supported("axis " + quoted(operation().axis));
    const std::int64_t size = operation().block_size == 0 ? 32 : operation().block_size;
    constexpr std::int64_t largest = 65536;  // keeps every product of sizes far from overflow
    if (size < 1 || size > largest) not_supported("blocks of " + std::to_string(size) + " lanes");
    const Axis axis = name == "col" ? Axis::column : name == "tile" ? Axis::tile : Axis::row;
    return {axis, refusal_ ? 1 : size};
}

// Blocks always run along the lanes: a columnwise tensor is seen transposed.
BlockJob seen_along_lanes(BlockJob job, const Blocks& blocks) {
    job.block = {blocks.rows(), blocks.columns()};
    if (blocks.axis != Axis::column) return job;
    std::swap(job.extent.lines, job.extent.lanes);
    std::swap(job.block.lines, job.block.lanes);
    for (Plane* plane : {&job.values, &job.codes})
        std::swap(plane->line_stride, plane->lane_stride);
    return job;
}

// The tensors of either block operation.
struct BlockTensors {
    const mx_tensor& values;
    const mx_tensor& codes;
    const mx_tensor& scales;
};
BlockJob block_job(Reader& reader, const BlockTensors& tensors, const DialectRule& rule) {
    const Element element = reader.block_format();
    const Blocks blocks = reader.blocks();
    const mx_tensor& values = tensors.values;
    const BlockJob job{{reader.values(values), element, rule.scale, rule.nan_code},
                       {values.rows, values.columns},
                       {},
                       plane_of(values),
                       reader.codes(tensors.codes, name_of(element), {values.rows, values.columns}),
                       reader.scales(tensors.scales, values, blocks)};
    return seen_along_lanes(job, blocks);
}

Job quantize_job(Reader& reader) {
    if (!reader.has({1, 2})) return QuantizeJob{};
    const DialectRule rule = reader.dialect_rule(reader.block_format());
    return QuantizeJob{
        block_job(reader, {reader.input(0), reader.output(0), reader.output(1)}, rule)};
}

Job dequantize_job(Reader& reader) {
    if (!reader.has({2, 1})) return DequantizeJob{};
    reader.check_dialect();
    return DequantizeJob{
        block_job(reader, {reader.output(0), reader.input(0), reader.input(1)}, {})};
}

Overflow overflow_of(Reader& reader) {
    const std::string_view name = text_of(reader.operation().overflow);
    if (name != "saturate" && name != "overflow")
        reader.not_supported("overflow mode " + quoted(reader.operation().overflow));
    return name == "overflow" ? Overflow::to_special : Overflow::saturate;
}

Job convert_job(Reader& reader) {
    const mx_operation& operation = reader.operation();
    const auto element = find_element(text_of(operation.format));
    if (!element) reader.not_supported("element format " + quoted(operation.format));
    if (text_of(operation.rounding) != "nearest_even")
        reader.not_supported("the GPU converts to nearest even, not by rounding " +
                             quoted(operation.rounding));
    if (operation.subnormals != nullptr && text_of(operation.subnormals) != "honoured")
        reader.not_supported("the GPU kernels honour subnormals, they do not know " +
                             quoted(operation.subnormals));
    const Overflow overflow = overflow_of(reader);
    if (!reader.has({1, 1})) return ConvertJob{};
    const DialectRule rule = operation.dialect == nullptr ? *find_dialect_rule("ocp", *element)
                                                          : reader.dialect_rule(*element);
    const mx_tensor& values = reader.input(0);
    return ConvertJob{
        reader.values(values),
        *element,
        rule.nan_code,
        overflow,
        {values.rows, values.columns},
        plane_of(values),
        reader.codes(reader.output(0), name_of(*element), {values.rows, values.columns})};
}

// From amax values, or as a cast from any values: which is the rule's business.
Job scale_job(Reader& reader, const ScaleRule& rule) {
    if (!reader.has({1, 1})) return EncodeScaleJob{};
    const mx_tensor& values = reader.input(0);
    return EncodeScaleJob{reader.values(values),
                          rule,
                          {values.rows, values.columns},
                          plane_of(values),
                          reader.codes(reader.output(0), "e8m0", {values.rows, values.columns})};
}

Job cast_job(Reader& reader) {
    const auto rule = find_cast_rule(text_of(reader.operation().dialect));
    if (!rule)
        reader.not_supported("the GPU kernels have no cast to e8m0 of dialect " +
                             quoted(reader.operation().dialect));
    return scale_job(reader, rule.value_or(ScaleRule{}));
}

Job job_of(Reader& reader) {
    const std::string_view name = text_of(reader.operation().name);
    if (name == "quantize") return quantize_job(reader);
    if (name == "dequantize") return dequantize_job(reader);
    if (name == "encode_scale")
        return scale_job(reader, reader.dialect_rule(reader.block_format()).scale);
    if (name == "convert")
        return text_of(reader.operation().format) == "e8m0" ? cast_job(reader)
                                                            : convert_job(reader);
    reader.not_supported("operation " + quoted(reader.operation().name));
    return QuantizeJob{};
}

bool is_for_both(const mx_operation& operation) {
    return text_of(operation.name) == "quantize" && text_of(operation.axis) == "both";
}

// One of the two directions of axis "both", which is read as a request of its own.
struct Side {
    const char* axis;
    std::size_t output;  // the first of its two
};
std::variant<Job, Refusal> side_of(const Call& call, const Side& side, Buffers buffers) {
    mx_operation operation = *call.operation;
    operation.struct_size = sizeof(mx_operation);
    operation.axis = side.axis;
    return job_of(
        {&operation, call.inputs, call.input_count, &tensor_at(call.outputs, side.output), 2},
        buffers);
}

std::variant<Job, Refusal> both_job(const Call& call, Buffers buffers) {
    const auto rows = side_of(call, {"row", 0}, buffers);
    if (const auto* refusal = std::get_if<Refusal>(&rows)) return *refusal;
    const auto columns = side_of(call, {"col", 2}, buffers);
    if (const auto* refusal = std::get_if<Refusal>(&columns)) return *refusal;
    const BlockJob& down = std::get<QuantizeJob>(std::get<Job>(columns)).blocks;
    return BothJob{std::get<QuantizeJob>(std::get<Job>(rows)).blocks,
                   plane_of(tensor_at(call.outputs, 2)), down.scales};
}

}  // namespace

std::variant<Job, Refusal> job_of(const Call& call, Buffers buffers) {
    Reader reader(call, buffers);
    reader.check_structs();
    if (reader.refusal()) return *reader.refusal();
    if (is_for_both(*call.operation))
        return reader.has({1, 4}) ? both_job(call, buffers) : *reader.refusal();
    const Job job = job_of(reader);
    if (reader.refusal()) return *reader.refusal();
    return job;
}

}  // namespace mx::cuda
