// See files_arguments.hpp.
#include "conformance/cli/files_arguments.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "conformance/case/names.hpp"
#include "conformance/cli/columns.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/files/predict.hpp"
#include "conformance/files/recognise.hpp"
#include "reference/base/hex.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

using files::Prediction;
using files::Predictions;

void print_rows(const Predictions& found) {
    for (const Prediction& row : found.rows) {
        std::printf("  %-22s predicts %s of %s blocks, %s scales%s\n", row.dialect.c_str(),
                    grouped(row.predicted).c_str(), grouped(found.blocks).c_str(),
                    grouped(row.scales).c_str(),
                    row.has_number ? "" : ", under the file's own global scale");
        if (row.predicted != found.blocks) std::printf("  %-22s   %s\n", "", row.witness.c_str());
    }
    for (const files::Variant& variant : found.variants)
        std::printf("  %s predicts %s\n", variant.text.c_str(), grouped(variant.predicted).c_str());
}

nlohmann::ordered_json json_of(const files::View& view, const Predictions& found) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array(),
                           variants = nlohmann::ordered_json::array();
    for (const Prediction& row : found.rows)
        rows.push_back({{"name", row.dialect},
                        {"predicted", row.predicted},
                        {"scales", row.scales},
                        {"global_scale_is_its_own", row.has_number},
                        {"witness", row.witness}});
    for (const files::Variant& variant : found.variants)
        variants.push_back({{"variant", variant.text}, {"predicted", variant.predicted}});
    return {{"tensor", view.name},    {"format", view.format->name},
            {"blocks", found.blocks}, {"dialects", found.names()},
            {"rows", rows},           {"variants", variants}};
}

// The values as explain takes them: bits, exactly.
std::string values_text(const std::vector<std::uint32_t>& values) {
    std::string text;
    for (const std::uint32_t value : values)
        text += (text.empty() ? "bits:0x" : ",bits:0x") + hex(value);
    return text;
}

Expected<FileTarget> quantize_target(const files::View& view, const files::FileBlock& block,
                                     const std::string& type, const std::string& dialect) {
    auto target = emulate::target_of_values({.values = values_text(block.values),
                                             .format = std::string(view.format->name),
                                             .dialect = dialect,
                                             .input = type});
    if (!target) return target.error();
    Case& c = target.value().c;
    if (c.tensor_number) c.tensor_number = block.tensor_amax;
    auto remark = files::held_against(view, block, type, *c.dialect);
    if (!remark) return remark.error();
    return FileTarget{std::move(target).value(), std::move(remark).value()};
}

// Codes alone are dequantized. Of a scale with a mantissa the number of the tensor would be needed
// as its dialect keeps it, and a checkpoint need not have it so.
Expected<FileTarget> dequantize_target(const files::View& view, const files::FileBlock& block,
                                       const std::string& dialect) {
    if (!view.format->has_e8m0_scales())
        return bad_input("give --original, the values that it was made of: codes of " +
                         std::string(view.format->name) + " alone are not explained");
    const auto c =
        parse_case("dequantize format=" + std::string(view.format->name) + " dialect=" + dialect +
                   " shape=1x" + std::to_string(block.codes.size()) + " data=codes.all");
    if (!c) return c.error();
    FileTarget result;
    result.target.c = c.value();
    for (const std::uint8_t code : block.codes) result.target.lanes.push_back(Code{code});
    result.target.scale = Code{block.scale};
    return result;
}

}  // namespace

std::vector<Option> options_of(FileArguments& arguments) {
    return {{"--file", "a file of quantized tensors instead", &arguments.file},
            {"--tensor", "which quantized tensor of it", &arguments.tensor, false, "--file"},
            {"--original", "a file of the values that it was made of", &arguments.original, false,
             "--file"},
            {"--elements", "what bytes that no type names are: e2m1, e5m2, ...",
             &arguments.elements, false, "--file"}};
}

int identify_file(const FileArguments& arguments, bool json) {
    if (arguments.original.empty())
        return fail_with(bad_input("--file needs --original, the values that it was made of"));
    const auto view = files::open_view(arguments.file, arguments.tensor, arguments.elements);
    if (!view) return fail_with(view.error());
    const auto values = files::find_values(arguments.original, view.value().name);
    if (!values) return fail_with(values.error());
    const auto found = files::predict(view.value(), values.value());
    if (!found)
        return fail_with({found.error().kind, arguments.file + ": " + found.error().message});
    if (json) {
        std::printf("%s\n", json_of(view.value(), found.value())
                                .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                                .c_str());
    } else {
        print_rows(found.value());
        std::printf(
            "%s\n",
            printable(view.value().name + " follows " + files::sentence_of(found.value())).c_str());
    }
    return found.value().names().empty() ? exit_mismatch : exit_conformant;
}

Expected<FileTarget> target_of_file(const FileArguments& arguments, std::uint64_t index,
                                    const std::string& wanted) {
    const auto view = files::open_view(arguments.file, arguments.tensor, arguments.elements);
    if (!view) return view.error();
    if (view.value().format == nullptr)
        return bad_input(arguments.file + ": no dialect is known for the blocks of " +
                         data::in_quotes(view.value().name));
    const std::string own = view.value().dialect;
    const std::string dialect = !wanted.empty() ? wanted
                                : !own.empty()  ? own
                                                : usual_quantizer(*view.value().format);
    const bool has_values = !arguments.original.empty();
    data::ListedTensor values;
    if (has_values) {
        auto found = files::find_values(arguments.original, view.value().name);
        if (!found) return found.error();
        values = std::move(found).value();
    }
    const auto block = files::block_at(view.value(), index, has_values ? &values : nullptr);
    if (!block) return Error{block.error().kind, arguments.file + ": " + block.error().message};
    auto target = has_values ? quantize_target(view.value(), block.value(), values.type, dialect)
                             : dequantize_target(view.value(), block.value(), dialect);
    if (!target) return target;
    target.value().target.title =
        view.value().name + " of " + arguments.file + ", block " + std::to_string(index) +
        " (row " + std::to_string(block.value().area.row) + ", column " +
        std::to_string(block.value().area.column) + "), dialect " + dialect;
    return target;
}

}  // namespace mx::cli
