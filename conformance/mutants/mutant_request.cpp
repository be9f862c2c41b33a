// Names and shapes of a call, checked one after the other; see the header. The first thing wrong
// becomes the sentence that the host prints.
#include "conformance/mutants/mutant_request.hpp"

#include <cstdarg>
#include <cstdio>
#include <iterator>

namespace mx::mutants {
namespace {

template <typename T>
struct Named {
    const char* name;
    T value;
};

constexpr Named<Action> actions[] = {{"convert", Action::convert},
                                     {"encode_scale", Action::encode_scale},
                                     {"quantize", Action::quantize},
                                     {"dequantize", Action::dequantize}};
constexpr Named<Format> block_elements[] = {{"mxfp8-e4m3", e4m3}, {"mxfp8-e5m2", e5m2}};
constexpr Named<Format> elements[] = {{"e4m3", e4m3}, {"e5m2", e5m2}};
constexpr Named<Format> values[] = {{"f32", f32}, {"bf16", bf16}, {"f16", f16}};
constexpr Named<Dialect> dialects[] = {{"ocp", Dialect::ocp}, {"nv", Dialect::nv}};
constexpr Named<Axis> axes[] = {{"row", Axis::row}, {"col", Axis::col}};
constexpr Named<Overflow> overflows[] = {{"saturate", Overflow::saturate},
                                         {"overflow", Overflow::overflow}};
constexpr Named<int> roundings[] = {{"nearest_even", 0}};

bool same(const char* left, const char* right) {
    return left != nullptr && std::strcmp(left, right) == 0;
}
const char* printable(const char* name) { return name == nullptr ? "(none)" : name; }

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
        // A layout of its own may change how many tensors there are.
        if (status == MX_OK) status = read_layouts(call_.inputs, call_.input_count);
        if (status == MX_OK) status = read_layouts(call_.outputs, call_.output_count);
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

    mx_status read_names() {
        const mx_operation& asked = *call_.operation;
        if (asked.struct_size < sizeof(mx_operation))
            return refuse(MX_INVALID, "mx_operation has %zu bytes, not %zu", asked.struct_size,
                          sizeof(mx_operation));
        if (!find(actions, asked.name, request_.action)) return unknown("operation", asked.name);
        const bool converts = request_.action == Action::convert;
        const bool known = converts ? find(elements, asked.format, request_.element)
                                    : find(block_elements, asked.format, request_.element);
        if (!known) return unknown("format", asked.format);
        // An element conversion is the same in every dialect, so it may come without one.
        if (!(converts && asked.dialect == nullptr) &&
            !find(dialects, asked.dialect, request_.dialect))
            return unknown("dialect", asked.dialect);
        const bool has_blocks =
            request_.action == Action::quantize || request_.action == Action::dequantize;
        if (has_blocks && !find(axes, asked.axis, request_.axis))
            return unknown("axis", asked.axis);
        if (has_blocks && asked.block_size != 32)
            return refuse(MX_NOT_SUPPORTED, "the mutants know blocks of 32 lanes only");
        if (converts && asked.subnormals != nullptr && !same(asked.subnormals, "honoured"))
            return unknown("rule for subnormals", asked.subnormals);
        int nearest_even = 0;
        if (converts && !find(roundings, asked.rounding, nearest_even))
            return unknown("rounding", asked.rounding);
        if (converts && !find(overflows, asked.overflow, request_.overflow))
            return unknown("overflow", asked.overflow);
        return MX_OK;
    }

    mx_status read_layouts(const mx_tensor* tensors, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i)
            if (tensors[i].struct_size >= sizeof(mx_tensor) && !same(tensors[i].layout, "strided"))
                return unknown("layout", tensors[i].layout);
        return MX_OK;
    }

    mx_status read_counts() const {
        const std::size_t inputs = request_.action == Action::dequantize ? 2 : 1;
        const std::size_t outputs = request_.action == Action::quantize ? 2 : 1;
        if (call_.input_count != inputs || call_.output_count != outputs)
            return refuse(MX_INVALID, "%s has %zu inputs and %zu outputs, not %zu and %zu",
                          call_.operation->name, inputs, outputs, call_.input_count,
                          call_.output_count);
        return MX_OK;
    }

    mx_status read_tensors() {
        const mx_tensor& first = call_.inputs[0];
        const Wanted whole{"the element tensor", first.rows, first.columns};
        const Wanted scales = request_.axis == Axis::row
                                  ? Wanted{"the scale tensor", first.rows, blocks(first.columns)}
                                  : Wanted{"the scale tensor", blocks(first.rows), first.columns};
        const bool from_codes = request_.action == Action::dequantize;
        mx_status status = from_codes ? read_codes(first, request_.inputs[0], whole)
                                      : read_values(first, request_.inputs[0], whole);
        if (status != MX_OK) return status;
        const mx_tensor& out = call_.outputs[0];
        switch (request_.action) {
            case Action::convert: return read_codes(out, request_.outputs[0], whole);
            case Action::encode_scale: return read_scales(out, request_.outputs[0], whole);
            case Action::quantize:
                status = read_codes(out, request_.outputs[0], whole);
                return status == MX_OK
                           ? read_scales(call_.outputs[1], request_.outputs[1], scales)
                           : status;
            case Action::dequantize: break;
        }
        status = read_scales(call_.inputs[1], request_.inputs[1], scales);
        return status == MX_OK ? read_values(out, request_.outputs[0], whole) : status;
    }

    static std::int64_t blocks(std::int64_t lanes) { return lanes / 32 + (lanes % 32 != 0); }

    mx_status read_values(const mx_tensor& asked, Tensor& tensor, const Wanted& wanted) {
        if (!find(values, asked.type, tensor.format)) return unknown("value type", asked.type);
        return read_shape(asked, tensor, wanted);
    }
    mx_status read_codes(const mx_tensor& asked, Tensor& tensor, const Wanted& wanted) {
        const bool known = find(elements, asked.type, tensor.format);
        if (!known || tensor.format.code_max != request_.element.code_max)
            return refuse(MX_INVALID, "%s is of type '%s', not of format '%s'", wanted.what,
                          printable(asked.type), call_.operation->format);
        return read_shape(asked, tensor, wanted);
    }
    mx_status read_scales(const mx_tensor& asked, Tensor& tensor, const Wanted& wanted) {
        if (!same(asked.type, "e8m0"))
            return refuse(MX_INVALID, "%s is of type '%s', not e8m0", wanted.what,
                          printable(asked.type));
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
                          static_cast<long long>(asked.rows),
                          static_cast<long long>(asked.columns),
                          static_cast<long long>(wanted.rows),
                          static_cast<long long>(wanted.columns));
        tensor.data = static_cast<unsigned char*>(asked.data);
        tensor.bytes = tensor.format.bits == 0 ? 1 : tensor.format.bits / 8;
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
