// See plan.hpp.
#include "conformance/run/plan.hpp"

#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "conformance/case/operations.hpp"

namespace mx {

Expected<Shard> parse_shard(const std::string& text) {
    const Error bad{ErrorKind::bad_input,
                    "shard '" + text + "' is not I/N with I below N, such as 0/4"};
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) return bad;
    const auto index = parse_number("shard", text.substr(0, slash));
    const auto count = parse_number("shard", text.substr(slash + 1));
    if (!index || !count || index.value() >= count.value()) return bad;
    return Shard{index.value(), count.value()};
}

namespace {

// Only what the dialect does: it may not quantize every format, or not read the tensor's type.
void add_if_valid(const Case& c, std::vector<PlannedCase>& cases) {
    if (check_combination(c)) cases.push_back({"input", c});
}

void add_quantize(Case c, std::vector<PlannedCase>& cases) {
    c.operation = "quantize";
    for (const std::string& format : format_names(c.operation))
        for (const char* axis : {"row", "col", "both"}) {
            c.format = format;
            c.axis = axis;
            add_if_valid(c, cases);
        }
}

void add_convert(Case c, std::vector<PlannedCase>& cases) {
    c.operation = "convert";
    c.axis = "row";
    for (const std::string& format : format_names(c.operation)) {
        c.format = format;
        if (!has_element_rules(c)) {
            add_if_valid(c, cases);
            continue;
        }
        Case element = c;
        element.rounding = "nearest_even";
        element.subnormals = "honoured";
        for (const std::string& overflow : overflow_names()) {
            element.overflow = overflow;
            add_if_valid(element, cases);
        }
    }
}

}  // namespace

Expected<std::vector<PlannedCase>> plan_input(const std::string& path, const PlanRequest& request) {
    const auto tensor = read_input_tensor(path);
    if (!tensor) return tensor.error();
    Case c;
    c.type = tensor.value().type;
    c.layout = "dense";
    c.rows = tensor.value().rows;
    c.columns = tensor.value().columns;
    c.data = std::string(file_prefix) + path;
    c.seed = request.seed;
    std::vector<PlannedCase> cases;
    for (const std::string& dialect :
         request.dialects.empty() ? dialect_names() : request.dialects) {
        c.dialect = dialect;
        add_quantize(c, cases);
        add_convert(c, cases);
    }
    return cases;
}

}  // namespace mx
