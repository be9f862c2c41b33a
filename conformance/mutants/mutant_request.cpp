// Names and shapes of a call, checked one after the other; see the header. The first thing wrong
// becomes the sentence that the host prints.
#include "conformance/mutants/mutant_request.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace mx::mutants {
namespace {

template <typename T>
struct Named {
    const char* name;
    T value;
};

struct RoundingName {
    Rounding rounding;
    RandomWords random;
};

constexpr Named<Action> actions[] = {{"convert", Action::convert},
                                     {"encode_scale", Action::encode_scale},
                                     {"quantize", Action::quantize},
                                     {"dequantize", Action::dequantize}};
constexpr Named<Format> block_elements[] = {{"mxfp8-e4m3", e4m3},
                                            {"mxfp8-e5m2", e5m2},
                                            {"mxfp6-e3m2", e3m2},
                                            {"mxfp6-e2m3", e2m3},
                                            {"mxfp4-e2m1", e2m1},
                                            {"mxint8", int8},
                                            {"mxint8-symmetric", int8_symmetric}};
constexpr Named<Format> elements[] = {{"e4m3", e4m3},
                                      {"e5m2", e5m2},
                                      {"e3m2", e3m2},
                                      {"e2m3", e2m3},
                                      {"e2m1", e2m1},
                                      {"int8", int8},
                                      {"int8-symmetric", int8_symmetric}};
constexpr Named<Format> values[] = {{"f32", f32}, {"bf16", bf16}, {"f16", f16}};
constexpr Named<Dialect> dialects[] = {{"ocp", Dialect::ocp}, {"nv", Dialect::nv}};
constexpr Named<Axis> axes[] = {{"row", Axis::row}, {"col", Axis::col}, {"tile", Axis::tile}};
constexpr Named<Overflow> overflows[] = {{"saturate", Overflow::saturate},
                                         {"overflow", Overflow::overflow}};
constexpr Named<Subnormals> subnormal_rules[] = {{"honoured", Subnormals::honoured},
                                                 {"inputs_flushed", Subnormals::inputs_flushed},
                                                 {"outputs_flushed", Subnormals::outputs_flushed}};
constexpr Named<RoundingName> roundings[] = {
    {"nearest_even", {Rounding::nearest_even, {}}},
    {"nearest_away", {Rounding::nearest_away, {}}},
    {"nearest_toward_zero", {Rounding::nearest_toward_zero, {}}},
    {"toward_zero", {Rounding::toward_zero, {}}},
    {"toward_positive", {Rounding::toward_positive, {}}},
    {"toward_negative", {Rounding::toward_negative, {}}},
    {"away_from_zero", {Rounding::away_from_zero, {}}},
    {"to_odd", {Rounding::to_odd, {}}},
    {"stochastic8", {Rounding::stochastic, {8, 1}}},
    {"stochastic16", {Rounding::stochastic, {16, 1}}},
    {"stochastic32", {Rounding::stochastic, {32, 1}}},
    {"stochastic-x4", {Rounding::stochastic, {16, 4}}}};
constexpr Named<Layout> code_layouts[] = {{"strided", Layout::strided},
                                          {"packed-low", Layout::packed_low},
                                          {"packed-high", Layout::packed_high},
                                          {"packed-6", Layout::packed_6},
                                          {"inline", Layout::inline_codes}};
constexpr Named<Layout> row_scale_layouts[] = {{"strided", Layout::strided},
                                               {"128x4", Layout::tiles_128x4},
                                               {"8x4", Layout::tiles_8x4},
                                               {"32x8", Layout::tiles_32x8},
                                               {"te-padded", Layout::te_padded}};
constexpr Named<Layout> col_scale_layouts[] = {{"strided", Layout::strided},
                                               {"128x4-col", Layout::tiles_128x4},
                                               {"8x4-col", Layout::tiles_8x4},
                                               {"32x8-col", Layout::tiles_32x8},
                                               {"te-padded-col", Layout::te_padded}};

bool same(const char* left, const char* right) {
    return left != nullptr && std::strcmp(left, right) == 0;
}
const char* printable(const char* name) {
    return name == nullptr ? "(none)" : name;
}

// Stores the row of that name. False when there is none.
template <typename T, std::size_t N>
bool find(const Named<T> (&table)[N], const char* name, T& value) {
    for (const Named<T>& row : table)
        if (same(name, row.name)) {
            value = row.value;
            return true;
        }
    return false;
}

std::int64_t divided_up(std::int64_t lanes, std::int64_t size) {
    return lanes / size + (lanes % size != 0);
}

// Bits of the codes that a layout is for; those asked for where it takes any.
int bits_of(Layout layout, int asked) {
    if (layout == Layout::packed_low || layout == Layout::packed_high) return 4;
    return layout == Layout::packed_6 ? 6 : asked;
}

// What one tensor of an operation has to be.
struct Wanted {
    const char* what;
    std::int64_t rows, columns;
};

class Reader {
public:
    Reader(const Call& call, Request& request) : call_(call), request_(request) {}

    mx_status read() {
        mx_status status = read_names();
        if (status == MX_OK && has_blocks()) status = read_blocks();
        if (status == MX_OK && request_.action == Action::convert) status = read_element_rules();
        if (status == MX_OK) status = read_counts();
        if (status == MX_OK) status = read_tensors();
        return status;
    }

private:
    __attribute__((format(printf, 3, 4))) mx_status refuse(mx_status status, const char* format,
                                                           ...) const {
        if (call_.message == nullptr || call_.message->text == nullptr) return status;
        std::va_list arguments;
        va_start(arguments, format);
        std::vsnprintf(call_.message->text, call_.message->capacity, format, arguments);
        va_end(arguments);
        return status;
    }
    mx_status unknown(const char* kind, const char* name) const {
        return refuse(MX_NOT_SUPPORTED, "the mutants do not know %s '%s'", kind, printable(name));
    }
    bool has_blocks() const {
        return request_.action == Action::quantize || request_.action == Action::dequantize;
    }

    mx_status read_names() {
        const mx_operation& asked = *call_.operation;
        if (asked.struct_size < sizeof(mx_operation))
            return refuse(MX_INVALID, "mx_operation has %zu bytes, not %zu", asked.struct_size,
                          sizeof(mx_operation));
        if (!find(actions, asked.name, request_.action)) return unknown("operation", asked.name);
        const bool converts = request_.action == Action::convert;
        if (converts && same(asked.format, "e8m0")) {
            request_.action = Action::cast_to_scale;
        } else {
            const bool known = converts ? find(elements, asked.format, request_.element)
                                        : find(block_elements, asked.format, request_.element);
            if (!known) return unknown("format", asked.format);
        }
        // An element conversion is the same in both dialects, so it may come without one.
        if (request_.action == Action::convert && asked.dialect == nullptr) return MX_OK;
        return find(dialects, asked.dialect, request_.dialect) ? MX_OK
                                                               : unknown("dialect", asked.dialect);
    }

    mx_status read_blocks() {
        const mx_operation& asked = *call_.operation;
        if (!find(axes, asked.axis, request_.axis)) return unknown("axis", asked.axis);
        if (asked.block_size != 16 && asked.block_size != 32 && asked.block_size != 64)
            return refuse(MX_NOT_SUPPORTED, "the mutants do not know blocks of %lld lanes",
                          static_cast<long long>(asked.block_size));
        request_.block = asked.block_size;
        return MX_OK;
    }

    mx_status read_element_rules() {
        const mx_operation& asked = *call_.operation;
        RoundingName rounding{};
        if (!find(roundings, asked.rounding, rounding)) return unknown("rounding", asked.rounding);
        request_.rounding = rounding.rounding;
        request_.random = rounding.random;
        if (!find(overflows, asked.overflow, request_.overflow))
            return unknown("overflow", asked.overflow);
        if (asked.subnormals != nullptr &&
            !find(subnormal_rules, asked.subnormals, request_.subnormals))
            return unknown("rule for subnormals", asked.subnormals);
        return MX_OK;
    }

    // Whether the scales lie between the codes and have no tensor of their own.
    bool is_inline() const {
        const bool writes = request_.action == Action::quantize;
        const mx_tensor* codes = writes ? call_.outputs : call_.inputs;
        const std::size_t count = writes ? call_.output_count : call_.input_count;
        return has_blocks() && count > 0 && codes[0].struct_size >= sizeof(mx_tensor) &&
               same(codes[0].layout, "inline");
    }

    mx_status read_counts() const {
        const std::size_t with_scales = is_inline() ? 1 : 2;
        const bool is_random = request_.rounding == Rounding::stochastic;
        std::size_t inputs = is_random ? 2 : 1, outputs = 1;
        if (request_.action == Action::dequantize) inputs = with_scales;
        if (request_.action == Action::quantize) outputs = with_scales;
        if (call_.input_count != inputs || call_.output_count != outputs)
            return refuse(MX_INVALID, "%s has %zu inputs and %zu outputs, not %zu and %zu",
                          call_.operation->name, inputs, outputs, call_.input_count,
                          call_.output_count);
        return MX_OK;
    }

    mx_status read_tensors() {
        const mx_tensor& first = call_.inputs[0];
        const mx_tensor& out = call_.outputs[0];
        const Wanted whole{"the element tensor", first.rows, first.columns};
        if (request_.action == Action::dequantize) {
            const mx_status status = read_values(out, request_.outputs[0], whole);
            return status == MX_OK ? read_encoded(call_.inputs, request_.inputs, whole) : status;
        }
        const mx_status status = read_values(first, request_.inputs[0], whole);
        if (status != MX_OK) return status;
        if (request_.action == Action::quantize)
            return read_encoded(call_.outputs, request_.outputs, whole);
        if (request_.action != Action::convert) return read_scales(out, request_.outputs[0], whole);
        return request_.rounding == Rounding::stochastic && read_words(whole) != MX_OK
                   ? MX_INVALID
                   : read_codes(out, request_.outputs[0], whole);
    }

    mx_status read_words(const Wanted& whole) {
        const mx_tensor& words = call_.inputs[1];
        if (!same(words.type, "u32") || !same(words.layout, "strided"))
            return refuse(MX_INVALID, "random bits are '%s' in layout '%s', not u32 and strided",
                          printable(words.type), printable(words.layout));
        request_.inputs[1].bits = 32;
        return read_shape(words, request_.inputs[1],
                          {"the tensor of random bits", whole.rows,
                           divided_up(whole.columns, request_.random.values_per_word)});
    }

    // Codes and the scales that belong to them.
    mx_status read_encoded(const mx_tensor* asked, Tensor* tensors, const Wanted& whole) {
        const std::int64_t tall = request_.axis == Axis::row ? 1 : request_.block;
        const std::int64_t wide = request_.axis == Axis::col ? 1 : request_.block;
        const Wanted scales{"the scale tensor", divided_up(whole.rows, tall),
                            divided_up(whole.columns, wide)};
        const mx_status status = read_codes(asked[0], tensors[0], whole);
        if (status != MX_OK) return status;
        if (!is_inline()) return read_scales(asked[1], tensors[1], scales);
        if (request_.axis != Axis::row) return unknown("inline scales along axis", "col or tile");
        const std::int64_t step = request_.block * tensors[0].bits / 8 + 1;
        if (!tensors[0].empty() && asked[0].column_stride != step)
            return refuse(MX_INVALID, "inline blocks are %lld bytes apart, not %lld",
                          static_cast<long long>(step),
                          static_cast<long long>(asked[0].column_stride));
        tensors[1] = tensors[0];
        tensors[1].bits = 8;
        tensors[1].layout = Layout::inline_scales;
        tensors[1].rows = scales.rows;
        tensors[1].columns = scales.columns;
        return MX_OK;
    }

    mx_status read_values(const mx_tensor& asked, Tensor& tensor, const Wanted& wanted) {
        if (!find(values, asked.type, tensor.format)) return unknown("value type", asked.type);
        if (!same(asked.layout, "strided")) return unknown("layout of values", asked.layout);
        tensor.bits = tensor.format.bits;
        return read_shape(asked, tensor, wanted);
    }
    mx_status read_codes(const mx_tensor& asked, Tensor& tensor, const Wanted& wanted) {
        if (!find(elements, asked.type, tensor.format) || tensor.format != request_.element)
            return refuse(MX_INVALID, "%s is of type '%s', not of format '%s'", wanted.what,
                          printable(asked.type), call_.operation->format);
        if (!find(code_layouts, asked.layout, tensor.layout))
            return unknown("layout of codes", asked.layout);
        tensor.bits = tensor.format.bits;
        if (tensor.bits != bits_of(tensor.layout, tensor.bits))
            return refuse(MX_INVALID, "%s has codes of %d bits, layout '%s' is for others",
                          wanted.what, tensor.bits, asked.layout);
        return read_shape(asked, tensor, wanted);
    }
    mx_status read_scales(const mx_tensor& asked, Tensor& tensor, const Wanted& wanted) {
        if (!same(asked.type, "e8m0"))
            return refuse(MX_INVALID, "%s is of type '%s', not e8m0", wanted.what,
                          printable(asked.type));
        const bool known = request_.axis == Axis::col
                               ? find(col_scale_layouts, asked.layout, tensor.layout)
                               : find(row_scale_layouts, asked.layout, tensor.layout);
        if (!known) return unknown("layout of scales", asked.layout);
        return read_shape(asked, tensor, wanted);
    }

    mx_status read_shape(const mx_tensor& asked, Tensor& tensor, const Wanted& wanted) {
        if (asked.struct_size < sizeof(mx_tensor))
            return refuse(MX_INVALID, "mx_tensor has %zu bytes, not %zu", asked.struct_size,
                          sizeof(mx_tensor));
        if (!same(asked.place, "host")) return unknown("place", asked.place);
        if (asked.rows != wanted.rows || asked.columns != wanted.columns || asked.rows < 0 ||
            asked.columns < 0)
            return refuse(MX_INVALID, "%s is %lld x %lld, not %lld x %lld", wanted.what,
                          static_cast<long long>(asked.rows), static_cast<long long>(asked.columns),
                          static_cast<long long>(wanted.rows),
                          static_cast<long long>(wanted.columns));
        tensor.data = static_cast<unsigned char*>(asked.data);
        tensor.axis = request_.axis;
        tensor.block = request_.block;
        tensor.rows = asked.rows;
        tensor.columns = asked.columns;
        tensor.row_stride = asked.row_stride;
        tensor.column_stride = asked.column_stride;
        return MX_OK;
    }

    const Call& call_;
    Request& request_;
};

bool lacks_data(const mx_tensor& tensor) {
    return tensor.data == nullptr && tensor.rows > 0 && tensor.columns > 0;
}

}  // namespace

Sides::Sides(const Call& call) : calls_{call, call} {
    constexpr std::size_t each = 2;
    const bool are_two = call.operation->struct_size >= sizeof(mx_operation) &&
                         same(call.operation->name, "quantize") &&
                         same(call.operation->axis, "both") && call.output_count == 2 * each &&
                         call.outputs[0].struct_size == sizeof(mx_tensor);
    if (!are_two) return;
    count_ = 2;
    for (std::size_t i = 0; i < 2; ++i) {
        operations_[i] = *call.operation;
        operations_[i].axis = i == 0 ? "row" : "col";
        calls_[i].operation = &operations_[i];
        calls_[i].outputs = call.outputs + i * each;
        calls_[i].output_count = each;
    }
}

mx_status read_request(const Call& call, Request& request) {
    return Reader(call, request).read();
}

mx_status check_data(const Call& call) {
    bool missing = false;
    for (std::size_t i = 0; i < call.input_count; ++i) missing |= lacks_data(call.inputs[i]);
    for (std::size_t i = 0; i < call.output_count; ++i) missing |= lacks_data(call.outputs[i]);
    if (!missing) return MX_OK;
    if (call.message != nullptr && call.message->text != nullptr)
        std::snprintf(call.message->text, call.message->capacity, "a tensor has no data");
    return MX_INVALID;
}

}  // namespace mx::mutants
