// See oracle_request.hpp.
#include "conformance/selftest/oracle_request.hpp"

#include <cstring>
#include <optional>
#include <vector>

#include "device/host/operation.hpp"

namespace mx::selftest {
namespace {

constexpr std::array<std::pair<std::string_view, Action>, 4> actions{{
    {"convert", Action::convert},
    {"encode_scale", Action::encode_scale},
    {"quantize", Action::quantize},
    {"dequantize", Action::dequantize},
}};
constexpr std::array<std::pair<std::string_view, Axis>, 3> axes{{
    {"row", Axis::row},
    {"col", Axis::col},
    {"tile", Axis::tile},
}};
constexpr std::array<std::pair<std::string_view, RandomWords>, 4> random_words{{
    {"stochastic8", {8, 1}},
    {"stochastic16", {16, 1}},
    {"stochastic32", {32, 1}},
    {"stochastic-x4", {16, 4}},
}};

// What a tensor of the request has to be.
struct Wanted {
    std::string_view type;
    std::int64_t rows, columns;
};

std::string_view text_of(const char* text) {
    return text == nullptr ? std::string_view("(none)") : std::string_view(text);
}

Refusal unknown(std::string_view kind, const char* name) {
    return {MX_NOT_SUPPORTED,
            "the oracle knows no " + std::string(kind) + " '" + std::string(text_of(name)) + "'"};
}

template <typename Table, typename Value>
bool find_pair(const Table& table, const char* name, Value& value) {
    for (const auto& [known, row] : table)
        if (known == text_of(name)) {
            value = row;
            return true;
        }
    return false;
}

bool find_format(const mx_operation& asked, Request& request) {
    const bool converts = request.action == Action::convert;
    if (converts && text_of(asked.format) == formats::e8m0.name) {
        request.element = formats::e8m0;
        return true;
    }
    for (const BlockFormat& format : block_formats) {
        if ((converts ? format.element().name : format.name) != text_of(asked.format)) continue;
        request.format = format;
        request.element = format.element();
        return true;
    }
    return false;
}

std::optional<Refusal> read_blocks(const mx_operation& asked, Request& request) {
    if (request.action != Action::quantize && request.action != Action::dequantize)
        return std::nullopt;
    if (!find_pair(axes, asked.axis, request.axis)) return unknown("axis", asked.axis);
    if (asked.block_size < 1)
        return Refusal{MX_INVALID, "blocks of " + std::to_string(asked.block_size) + " lanes"};
    request.block = asked.block_size;
    return std::nullopt;
}

std::optional<Refusal> read_element_rules(const mx_operation& asked, Request& request) {
    if (request.action != Action::convert || request.casts_to_scale()) return std::nullopt;
    if (find_pair(random_words, asked.rounding, request.random))
        request.rules.element_rounding = Rounding::stochastic;
    else if (!find_pair(roundings, asked.rounding, request.rules.element_rounding))
        return unknown("rounding", asked.rounding);
    if (!find_pair(overflows, asked.overflow, request.rules.element_overflow))
        return unknown("overflow", asked.overflow);
    if (!find_pair(subnormal_rules, asked.subnormals, request.rules.subnormals))
        return unknown("rule for subnormals", asked.subnormals);
    return std::nullopt;
}

std::optional<Refusal> read_names(const mx_operation& asked, Request& request) {
    if (asked.struct_size < sizeof(mx_operation))
        return Refusal{MX_INVALID, "mx_operation is shorter than this version of it"};
    if (!find_pair(actions, asked.name, request.action)) return unknown("operation", asked.name);
    if (!find_format(asked, request)) return unknown("format", asked.format);
    const Dialect* dialect = find_dialect(text_of(asked.dialect));
    if (dialect == nullptr) return unknown("dialect", asked.dialect);
    request.rules = *dialect;
    auto refusal = read_blocks(asked, request);
    return refusal ? refusal : read_element_rules(asked, request);
}

// The type of the value tensor names the format of the values.
std::optional<Refusal> read_values(const mx_tensor& tensor, Request& request) {
    for (const std::string_view type : input_types)
        if (type == text_of(tensor.type)) {
            request.values = *find_element_format(type);
            return std::nullopt;
        }
    return unknown("value type", tensor.type);
}

struct Wants {
    std::vector<Wanted> inputs, outputs;
};

Wants wants_of(const Request& request, const mx_tensor& first) {
    const std::int64_t rows = first.rows, columns = first.columns;
    const auto parts = [](std::int64_t length, std::int64_t part) {
        return length / part + (length % part == 0 ? 0 : 1);
    };
    const Wanted values{request.values.name, rows, columns};
    const Wanted codes{request.element.name, rows, columns};
    const Wanted scales{"e8m0", request.axis == Axis::row ? rows : parts(rows, request.block),
                        request.axis == Axis::col ? columns : parts(columns, request.block)};
    const Wanted words{"u32", rows, parts(columns, request.random.values_per_word)};
    switch (request.action) {
        case Action::convert:
            if (request.random.bits > 0) return {{values, words}, {codes}};
            return {{values}, {codes}};
        case Action::encode_scale:
            return {{values}, {{"e8m0", rows, columns}}};
        case Action::quantize:
            return {{values}, {codes, scales}};
        case Action::dequantize:
            return {{codes, scales}, {values}};
    }
    return {};
}

std::optional<Refusal> read_tensor(const mx_tensor& tensor, const Wanted& wanted, View& view) {
    if (tensor.struct_size < sizeof(mx_tensor))
        return Refusal{MX_INVALID, "mx_tensor is shorter than this version of it"};
    if (text_of(tensor.place) != "host") return unknown("place", tensor.place);
    if (text_of(tensor.layout) != "strided") return unknown("layout", tensor.layout);
    if (text_of(tensor.type) != wanted.type || tensor.rows != wanted.rows ||
        tensor.columns != wanted.columns || tensor.rows < 0 || tensor.columns < 0)
        return Refusal{MX_INVALID,
                       "a tensor is " + std::string(text_of(tensor.type)) + " " +
                           std::to_string(tensor.rows) + " x " + std::to_string(tensor.columns) +
                           ", not " + std::string(wanted.type) + " " + std::to_string(wanted.rows) +
                           " x " + std::to_string(wanted.columns)};
    view.data = static_cast<unsigned char*>(tensor.data);
    view.width = element_width(wanted.type);
    view.rows = tensor.rows;
    view.columns = tensor.columns;
    view.row_stride = tensor.row_stride;
    view.column_stride = tensor.column_stride;
    return std::nullopt;
}

std::optional<Refusal> read_tensors(const Call& call, Request& request) {
    const Wants wants = wants_of(request, call.inputs[0]);
    if (call.input_count != wants.inputs.size() || call.output_count != wants.outputs.size())
        return Refusal{MX_INVALID, "the operation has another number of tensors"};
    std::optional<Refusal> refusal;
    for (std::size_t i = 0; i < wants.inputs.size() && !refusal; ++i)
        refusal = read_tensor(call.inputs[i], wants.inputs[i], request.inputs[i]);
    for (std::size_t i = 0; i < wants.outputs.size() && !refusal; ++i)
        refusal = read_tensor(call.outputs[i], wants.outputs[i], request.outputs[i]);
    return refusal;
}

}  // namespace

unsigned char* View::at(Cell cell) const {
    const std::int64_t place = cell.row * row_stride + cell.column * column_stride;
    return data + place * static_cast<std::int64_t>(width);
}

std::uint32_t View::read(Cell cell) const {
    std::uint32_t code = 0;
    std::memcpy(&code, at(cell), width);
    return code;
}

void View::write(Cell cell, std::uint32_t code) const {
    std::memcpy(at(cell), &code, width);
}

namespace {

std::variant<Request, Refusal> read_request(const Call& call) {
    Request request;
    auto refusal = read_names(*call.operation, request);
    if (!refusal && (call.input_count == 0 || call.output_count == 0))
        refusal = Refusal{MX_INVALID, "the operation has no tensors"};
    if (!refusal)
        refusal = read_values(
            request.action == Action::dequantize ? call.outputs[0] : call.inputs[0], request);
    if (!refusal) refusal = read_tensors(call, request);
    if (refusal) return *refusal;
    return request;
}

bool is_for_both(const Call& call) {
    const mx_operation& asked = *call.operation;
    return asked.struct_size >= sizeof(mx_operation) && text_of(asked.name) == "quantize" &&
           text_of(asked.axis) == "both";
}

}  // namespace

std::variant<std::vector<Request>, Refusal> read_requests(const Call& call) {
    if (!is_for_both(call)) {
        auto request = read_request(call);
        if (const auto* refusal = std::get_if<Refusal>(&request)) return *refusal;
        return std::vector{std::get<Request>(request)};
    }
    constexpr std::size_t each = 2;
    if (call.output_count != 2 * each)
        return Refusal{MX_INVALID, "the operation has another number of tensors"};
    std::vector<Request> requests;
    for (const char* axis : {"row", "col"}) {
        mx_operation operation = *call.operation;
        operation.axis = axis;
        auto request = read_request({&operation, call.inputs, call.input_count,
                                     call.outputs + each * requests.size(), each});
        if (const auto* refusal = std::get_if<Refusal>(&request)) return *refusal;
        requests.push_back(std::get<Request>(request));
    }
    return requests;
}

}  // namespace mx::selftest
