// JSON and hexadecimal digits; see messages.hpp. The only file of the room that includes a JSON
// library.
#include "device/subprocess/messages.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "device/host/layout.hpp"
#include "device/host/strided.hpp"
#include "reference/base/text.hpp"

namespace mx::pipe {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<std::string_view, mx_status>, 6> statuses{{
    {"ok", MX_OK},
    {"not_supported", MX_NOT_SUPPORTED},
    {"invalid", MX_INVALID},
    {"out_of_memory", MX_OUT_OF_MEMORY},
    {"device_lost", MX_DEVICE_LOST},
    {"failed", MX_FAILED},
}};

Error wrong(std::string what) {
    return {ErrorKind::device, std::move(what)};
}

// As much of a line as a sentence can hold.
std::string excerpt(std::string_view line) {
    constexpr std::size_t longest = 60;
    if (line.size() <= longest) return "'" + printable(line) + "'";
    return "'" + printable(line.substr(0, longest)) + "...'";
}

Json tensor_json(const TensorSpec& spec) {
    Json json{{"type", spec.type},
              {"layout", spec.layout},
              {"rows", spec.rows},
              {"columns", spec.columns},
              {"bytes", travelling_size(spec)}};
    if (is_strided(spec)) return json;
    json["row_stride"] = spec.row_stride;
    json["column_stride"] = spec.column_stride;
    return json;
}

// Numbers of binary32 travel as their bits.
Json gemm_json(const GemmOperation& gemm) {
    Json json{{"batches", gemm.batches}, {"alpha_bits", gemm.alpha}, {"beta_bits", gemm.beta}};
    const auto add = [&json](const char* key, const std::string& text) {
        if (!text.empty()) json[key] = text;
    };
    add("scaling_a", gemm.scaling_a);
    add("scaling_b", gemm.scaling_b);
    add("scaling_out", gemm.scaling_out);
    add("epilogue", gemm.epilogue);
    add("accumulation", gemm.accumulation);
    add("algorithm", gemm.algorithm);
    if (gemm.groups != 0) json["groups"] = gemm.groups;
    return json;
}

Json header_of(const PipeRequest& request) {
    Json header{{"id", request.id},
                {"ask", request.ask == Ask::run ? "run" : "supports"},
                {"operation", request.operation.name}};
    const auto add = [&header](const char* key, const std::string& text) {
        if (!text.empty()) header[key] = text;
    };
    add("format", request.operation.format);
    add("dialect", request.operation.dialect);
    add("axis", request.operation.axis);
    if (request.operation.block_size != 0) header["block_size"] = request.operation.block_size;
    add("rounding", request.operation.rounding);
    add("overflow", request.operation.overflow);
    add("subnormals", request.operation.subnormals);
    add("tensor_scale", request.operation.tensor_scale);
    if (request.operation.gemm) header["gemm"] = gemm_json(*request.operation.gemm);
    header["form"] = request.form == Form::hex ? "hex" : "binary";
    header["inputs"] = Json::array();
    header["outputs"] = Json::array();
    for (const Cargo& input : request.inputs) header["inputs"].push_back(tensor_json(input.spec));
    for (const TensorSpec& spec : request.outputs) header["outputs"].push_back(tensor_json(spec));
    return header;
}

int digit_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

// An object, or what stands there instead.
Expected<Json> parse_object(std::string_view line) {
    Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return wrong(excerpt(line) + " is no JSON object");
    return json;
}

std::string text_at(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Expected<Form> form_at(const Json& json) {
    if (!json.contains("form")) return Form::hex;
    const auto form = form_named(text_at(json, "form"));
    if (!form) return wrong("its form is neither hex nor binary");
    return *form;
}

}  // namespace

std::optional<Form> form_named(std::string_view name) {
    if (name == "hex") return Form::hex;
    if (name == "binary") return Form::binary;
    return std::nullopt;
}

std::size_t travelling_size(const TensorSpec& spec) {
    if (is_strided(spec)) return element_count(spec) * element_width(spec.type);
    return byte_extent(spec).value();
}

std::span<const std::byte> as_it_travels(const TensorSpec& spec, std::span<const std::byte> tensor,
                                         std::vector<std::byte>& scratch) {
    return is_strided(spec) ? dense_view(spec, tensor, scratch) : tensor;
}

std::string to_text(const PipeRequest& request) {
    std::string text = header_of(request).dump(-1, ' ', true, Json::error_handler_t::replace);
    text += '\n';
    if (request.ask == Ask::supports) return text;
    for (const Cargo& input : request.inputs) {
        if (request.form == Form::hex) {
            append_hex_line(text, input.bytes);
        } else {
            text.append(reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size());
        }
    }
    return text;
}

void append_hex_line(std::string& text, std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::size_t at = text.size();
    text.resize(at + 2 * bytes.size() + 1);
    for (const std::byte byte : bytes) {
        const auto value = std::to_integer<unsigned>(byte);
        text[at++] = digits[value >> 4];
        text[at++] = digits[value & 15];
    }
    text[at] = '\n';
}

Expected<Hello> parse_hello(std::string_view line) {
    const Expected<Json> parsed = parse_object(line);
    if (!parsed) return wrong("its first line " + parsed.error().message);
    const Json& json = parsed.value();
    if (!json.contains("mxpipe") || json["mxpipe"] != protocol_version)
        return wrong("its first line " + excerpt(line) +
                     " does not say \"mxpipe\":" + std::to_string(protocol_version));
    const Expected<Form> form = form_at(json);
    if (!form) return form.error();
    Hello hello{form.value(), {}};
    const auto facts = json.find("facts");
    if (facts == json.end() || !facts->is_object()) return hello;
    for (const auto& [key, value] : facts->items())
        if (value.is_string())
            hello.facts.emplace_back(printable(key), printable(value.get<std::string>()));
    return hello;
}

Expected<AnswerLine> parse_answer(std::string_view line) {
    const Expected<Json> parsed = parse_object(line);
    if (!parsed) return parsed.error();
    const Json& json = parsed.value();
    const Expected<Form> form = form_at(json);
    if (!form) return form.error();
    AnswerLine answer{
        text_at(json, "id"), MX_OK, printable(text_at(json, "reason")), form.value(), {}};
    const std::string word = text_at(json, "status");
    const auto* status = statuses.begin();
    while (status != statuses.end() && status->first != word) ++status;
    if (status == statuses.end()) return wrong(excerpt(line) + " has no status of the protocol");
    answer.status = status->second;
    const auto sizes = json.find("bytes");
    if (sizes == json.end()) return answer;
    if (!sizes->is_array()) return wrong("\"bytes\" in " + excerpt(line) + " is no list");
    for (const Json& size : *sizes) {
        if (!size.is_number_unsigned())
            return wrong("\"bytes\" in " + excerpt(line) + " is no list of sizes");
        answer.sizes.push_back(size.get<std::uint64_t>());
    }
    return answer;
}

Status read_hex(std::string_view line, std::span<std::byte> bytes) {
    if (line.ends_with('\r'))
        return wrong("a line ends with a carriage return, and must end with a line feed alone");
    if (line.size() != 2 * bytes.size())
        return wrong(std::to_string(line.size()) + " digits where " +
                     std::to_string(2 * bytes.size()) + " belong");
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const int high = digit_value(line[2 * i]);
        const int low = digit_value(line[2 * i + 1]);
        if (high < 0 || low < 0)
            return wrong(excerpt(line.substr(2 * i, 2)) + " is no hexadecimal byte");
        bytes[i] = static_cast<std::byte>(high * 16 + low);
    }
    return success();
}

}  // namespace mx::pipe
