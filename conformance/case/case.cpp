// See case.hpp.
#include "conformance/case/case.hpp"

#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"

namespace mx {
namespace {

std::string type_key(const Case& c) {
    return c.operation == "dequantize" ? "output" : "input";
}

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

Status assign(Case& c, const KeyValue& field) {
    const auto& [key, value] = field;
    if (key == "format")
        c.format = value;
    else if (key == "dialect")
        c.dialect = value;
    else if (key == type_key(c))
        c.type = value;
    else if (key == "axis")
        c.axis = value;
    else if (key == "rounding")
        c.rounding = value;
    else if (key == "overflow")
        c.overflow = value;
    else if (key == "layout")
        c.layout = value;
    else if (key == "data")
        c.data = value;
    else if (key == "shape") {
        const auto shape = parse_shape(value);
        if (!shape) return shape.error();
        c.rows = shape.value().rows;
        c.columns = shape.value().columns;
    } else if (key == "index" || key == "seed") {
        const auto number = parse_number(key, value);
        if (!number) return number.error();
        (key == "index" ? c.index : c.seed) = number.value();
    } else {
        return check_name("field", key,
                          {"format", "dialect", type_key(c), "axis", "rounding", "overflow",
                           "layout", "shape", "data", "index", "seed"});
    }
    return success();
}

Case with_defaults(const std::string& operation) {
    Case c;
    c.operation = operation;
    c.dialect = "ocp";
    c.type = "f32";
    c.axis = "row";
    c.layout = "dense";
    if (operation == "convert") {
        c.rounding = "nearest_even";
        c.overflow = "saturate";
    }
    return c;
}

}  // namespace

bool has_blocks(const Case& c) {
    return c.operation == "quantize" || c.operation == "dequantize";
}

std::int64_t element_count(const Case& c) {
    return c.rows * c.columns;
}

BlockGrid block_grid(const Case& c) {
    const auto blocks = [](std::int64_t length) { return (length + block_size - 1) / block_size; };
    if (!has_blocks(c)) return {1, blocks(element_count(c))};
    if (c.axis == "col") return {blocks(c.rows), c.columns};
    return {c.rows, blocks(c.columns)};
}

std::string print(const Case& c) {
    std::string text = c.operation;
    const auto add = [&text](std::string_view key, const std::string& value) {
        text += " " + print_field(key, value);
    };
    add("format", c.format);
    add("dialect", c.dialect);
    add(type_key(c), c.type);
    if (has_blocks(c)) add("axis", c.axis);
    if (c.operation == "convert") {
        add("rounding", c.rounding);
        add("overflow", c.overflow);
    }
    add("layout", c.layout);
    add("shape", std::to_string(c.rows) + "x" + std::to_string(c.columns));
    add("data", c.data);
    add("index", std::to_string(c.index));
    add("seed", std::to_string(c.seed));
    return text;
}

Expected<Case> parse_case(const std::string& text) {
    const auto words = split_words(text);
    if (!words) return words.error();
    const Status known = check_name("operation", words.value().head, operation_names());
    if (!known) return known.error();
    Case c = with_defaults(words.value().head);
    bool has_shape = false;
    for (const KeyValue& field : words.value().fields) {
        const Status assigned = assign(c, field);
        if (!assigned) return assigned.error();
        has_shape = has_shape || field.key == "shape";
    }
    if (!has_shape) return bad("the case has no shape=ROWSxCOLUMNS: " + text);
    if (c.format.empty()) return bad("the case has no format=: " + text);
    if (c.data.empty()) return bad("the case has no data=: " + text);
    const Status valid = validate(c);
    if (!valid) return valid.error();
    return c;
}

Status validate(const Case& c) {
    const auto names = {
        check_name("operation", c.operation, operation_names()),
        check_name("format", c.format, format_names(c.operation)),
        check_name("dialect", c.dialect, dialect_names()),
        check_name("type", c.type, type_names()),
        check_name("axis", c.axis, {"row", "col"}),
        check_name("layout", c.layout, layout_names()),
    };
    for (const Status& status : names)
        if (!status) return status;
    if (!has_blocks(c) && c.axis != "row")
        return bad(c.operation + " has no blocks, so it has no axis=" + c.axis);
    if (c.operation != "convert") {
        if (!c.rounding.empty() || !c.overflow.empty())
            return bad("rounding= and overflow= belong to convert; in " + c.operation +
                       " the dialect decides them");
        return success();
    }
    const Status rounding = check_name("rounding", c.rounding, rounding_names());
    return rounding ? check_name("overflow", c.overflow, overflow_names()) : rounding;
}

}  // namespace mx
