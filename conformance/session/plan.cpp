// See plan.hpp.
#include "conformance/session/plan.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "conformance/case/fields.hpp"
#include "conformance/case/gemm_row.hpp"
#include "conformance/case/names.hpp"
#include "reference/base/files.hpp"
#include "reference/base/text.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::session {

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

// A scale that comes from earlier tensors is given as 1. Of an empty tensor no scale and no number
// is asked: they alone would make a run that passes of a file without a value.
void add_quantize(Case c, std::vector<PlannedCase>& cases) {
    constexpr std::uint32_t one = 0x3F800000;
    c.operation = OperationKind::quantize;
    const TensorScale number = c.dialect->tensor_scale;
    if (number == TensorScale::history) c.tensor_number = one;
    for (const BlockFormat& format : block_formats)
        for (const auto& [name, axis] : block_axes) {
            const bool is_other_tile = axis == BlockAxis::tile && format.block_rows == 1;
            const bool has_one = axis == BlockAxis::tensor || number != TensorScale::none;
            if (is_other_tile || (has_one && element_count(c) == 0) ||
                !c.dialect->quantizes(format))
                continue;
            c.format = &format;
            c.axis = axis;
            c.block = format.block_columns;
            add_if_valid(c, cases);
        }
}

void add_convert(Case c, std::vector<PlannedCase>& cases) {
    c.operation = OperationKind::convert;
    for (const BlockFormat& format : mx_block_formats) {
        c.format = &format;
        for (const auto& [name, overflow] : overflows) {
            c.rules = ElementRules{.overflow = overflow};
            add_if_valid(c, cases);
        }
    }
    c.format = nullptr;
    c.rules.reset();
    add_if_valid(c, cases);
}

Status check_names(const PlanOptions& options) {
    for (const std::string& dialect : options.dialects)
        if (const Status known = check_name("dialect", dialect, quantizer_names()); !known)
            return known;
    std::vector<std::string> formats = block_format_names();
    for (const std::string& element : format_names(OperationKind::convert))
        formats.push_back(element);
    for (const std::string& format : options.formats)
        if (const Status known = check_name("format", format, formats); !known) return known;
    return success();
}

Expected<std::vector<Suite>> suites_of(const PlanOptions& options) {
    if (options.suite_file.empty()) return built_in_suites();
    auto text = text_of_file(options.suite_file);
    if (!text) return bad_input("suite file " + text.error().message);
    const std::string name = std::filesystem::path(options.suite_file).stem().string();
    return std::vector<Suite>{{name, std::move(text).value()}};
}

// Why a case cannot be one of that row, "" where it can.
std::string unfit_because(const Case& c, const GemmModel& row) {
    const Status fits = check_combination(c);
    if (!fits) return fits.error().message;
    const bool ends_in_half = row.accumulator.exponent_bits < formats::f32.exponent_bits;
    if (ends_in_half && c.gemm.output.element != formats::f16)
        return "model " + std::string(row.name) + " sums in f16, and its D is f16";
    return "";
}

// By name, or of a file.
Expected<ModelChoice> model_of(const PlanOptions& options) {
    if (!options.model.empty() && !options.model_file.empty())
        return bad_input("--model " + options.model + " and --model-file " + options.model_file +
                         " are two models; name one");
    if (!options.model_file.empty()) {
        const auto own = read_model_file(options.model_file);
        if (!own) return own.error();
        return ModelChoice{&own.value()->row, false, own.value()};
    }
    if (const Status known = check_name("model", options.model, names_of(gemm_models)); !known)
        return known.error();
    return ModelChoice{find_gemm_model(options.model), false, {}};
}

// The GEMMs as that row multiplies them, each once; those that it does not are left out.
Expected<std::vector<PlannedCase>> under_model(const PlanOptions& options,
                                               const std::vector<PlannedCase>& cases) {
    const auto model = model_of(options);
    if (!model) return model.error();
    const GemmModel& row = *model.value().row;
    std::vector<PlannedCase> taken;
    std::set<std::string> seen;
    std::string why;
    for (PlannedCase planned : cases) {
        if (!is_gemm(planned.c))
            return bad_input("--model says how a GEMM is summed, and suite '" + planned.suite +
                             "' asks for " + std::string(name_of(planned.c.operation)) +
                             ": give --suite gemm");
        planned.c.gemm.model = model.value();
        const std::string unfit = unfit_because(planned.c, row);
        if (!unfit.empty())
            why = unfit;
        else if (seen.insert(print(planned.c)).second)
            taken.push_back(std::move(planned));
    }
    if (taken.empty()) return bad_input(why);
    return taken;
}

}  // namespace

// Reads no file, as one may be a pipe. Of a file that is not there its reader says so.
Status check_plan(const PlanOptions& options) {
    if (const Status names = check_names(options); !names) return names;
    if (!options.input.empty() && options.suite != "*")
        return bad_input("--input runs instead of the suites; leave --suite out");
    const PlanRequest request{options.level, options.suite, options.dialects, options.seed};
    const auto is_missing = [](const std::string& path) {
        return !path.empty() && !std::filesystem::exists(path);
    };
    if (is_missing(options.input)) return plan_input(options.input, request).error();
    if (is_missing(options.suite_file)) return suites_of(options).error();
    if (!options.model.empty() || is_missing(options.model_file))
        if (const auto model = model_of(options); !model) return model.error();
    const bool names_suites = options.input.empty() && options.suite_file.empty();
    return names_suites ? check_request(built_in_suites(), request) : success();
}

Expected<std::vector<PlannedCase>> planned(const PlanOptions& options, Sources& sources) {
    if (const Status fits = check_plan(options); !fits) return fits.error();
    const auto suites = suites_of(options);
    if (!suites) return suites.error();
    const PlanRequest request{options.level, options.suite, options.dialects, options.seed};
    auto planned = options.input.empty() ? plan_cases(suites.value(), request, sources)
                                         : plan_input(options.input, request);
    if (!planned) return planned.error();
    std::vector<PlannedCase> cases = std::move(planned).value();
    const auto other_format = [&options](const PlannedCase& one) {
        return !options.formats.empty() && std::find(options.formats.begin(), options.formats.end(),
                                                     format_name(one.c)) == options.formats.end();
    };
    std::erase_if(cases, other_format);
    if (cases.empty() && !options.input.empty())
        return bad_input("nothing of these dialects and formats is asked of " + options.input +
                         ": it has no values for them");
    if (cases.empty() && !options.suite_file.empty())
        return bad_input("suite file " + options.suite_file + " has no case of level '" +
                         options.level + "' and these dialects and formats");
    if (cases.empty())
        return bad_input("no case of suite '" + options.suite + "' has level '" + options.level +
                         "' and these dialects" + (options.formats.empty() ? "" : " and formats"));
    if (options.names_model()) return under_model(options, cases);
    return cases;
}

std::string list_text(const std::vector<std::string>& names) {
    const std::string text = joined(names, ",");
    return text.empty() ? "all" : text;
}

Expected<std::vector<PlannedCase>> plan_input(const std::string& path, const PlanRequest& request) {
    const auto tensor = read_input_tensor(path);
    if (!tensor) return tensor.error();
    Case c;
    c.type = *find_element_format(tensor.value().type);
    c.rows = tensor.value().rows;
    c.columns = tensor.value().columns;
    c.data = std::string(file_prefix) + path;
    c.seed = request.seed;
    std::vector<PlannedCase> cases;
    for (const std::string& dialect :
         request.dialects.empty() ? quantizer_names() : request.dialects) {
        c.dialect = find_quantizer(dialect);
        add_quantize(c, cases);
        if (find_converter(dialect) != nullptr) add_convert(c, cases);
    }
    return cases;
}

}  // namespace mx::session
