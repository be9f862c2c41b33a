// See capture.hpp.
#include "conformance/session/capture.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/case/fields.hpp"
#include "conformance/data/captured_call.hpp"
#include "conformance/data/inputs.hpp"
#include "conformance/data/tensor_listing.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "conformance/session/provenance.hpp"
#include "device/host/layout.hpp"
#include "device/subprocess/messages.hpp"
#include "reference/base/files.hpp"
#include "reference/base/text.hpp"

namespace mx::session {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int version_known = 1;

std::string text_in(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::uint64_t number_in(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool is_set(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_boolean() && found->get<bool>();
}

const Json& object_in(const Json& json, const char* key) {
    static const Json empty = Json::object();
    const auto found = json.find(key);
    return found != json.end() && found->is_object() ? *found : empty;
}

// Of any file name, however hostile its folder.
bool is_plain_name(const std::string& name) {
    return !name.empty() && name.front() != '.' && fs::path(name).filename() == name;
}

// "3 by sample, 2 by limit"
std::string counts_text(const Json& counts) {
    std::vector<std::string> parts;
    for (const auto& [reason, count] : counts.items())
        if (count.is_number_unsigned() && count.get<std::uint64_t>() > 0)
            parts.push_back(grouped(count.get<std::uint64_t>()) + " " + printable(reason));
    return joined(parts, ", ");
}

// The words of a call with what the user says instead, and the file that its data are in.
Expected<Case> case_of_call(const std::string& text, const std::string& path,
                            const CaptureOptions& options) {
    auto words = split_words(text);
    if (!words) return words.error();
    const bool multiplies = words.value().head == "gemm";
    const std::string& instead = multiplies ? options.model : options.dialect;
    std::string line = words.value().head;
    for (const auto& [key, value] : words.value().fields) {
        if (key == "data" || key == "index")
            return bad_input("its case has a " + key + " of its own");
        if (instead.empty() || key != (multiplies ? "model" : "dialect"))
            line += " " + print_field(key, value);
    }
    if (!instead.empty()) line += " " + print_field(multiplies ? "model" : "dialect", instead);
    return parse_case(line + " " + print_field("data", std::string(file_prefix) + path));
}

DeviceAnswer refused(AnswerKind kind, std::string reason) {
    DeviceAnswer answer;
    answer.kind = kind;
    answer.reason = std::move(reason);
    return answer;
}

// The parts of one tensor for each buffer of a question, as the function left them.
using Buffers = std::vector<std::vector<std::byte>>;

Expected<Buffers> read_buffers(const std::string& path, const std::vector<std::string>& names,
                               const std::vector<TensorSpec>& specs) {
    const auto listing = data::list_tensors(path);
    if (!listing) return listing.error();
    Buffers buffers;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const auto& tensors = listing.value().tensors;
        const auto found = i < names.size()
                               ? std::ranges::find(tensors, names[i], &data::ListedTensor::name)
                               : tensors.end();
        if (found == tensors.end())
            return bad_input(path + ": lacks output " + std::to_string(i) + " of its case");
        const std::size_t needed = pipe::travelling_size(specs[i]);
        if (found->size() != needed)
            return bad_input(path + ": tensor '" + names[i] + "' has " +
                             std::to_string(found->size()) + " bytes, and " +
                             std::to_string(needed) + " belong to " + to_text(specs[i]));
        auto tensor = data::read_whole(*found);
        if (!tensor) return tensor.error();
        buffers.push_back(std::move(tensor.value().bytes));
    }
    return buffers;
}

std::vector<CodeTensor> output_tensors(const Case& c) {
    std::vector<CodeTensor> tensors;
    for (const Part part : outputs_of(c)) tensors.push_back(make_tensor(shape_of(c, part)));
    return tensors;
}

// Blocks of a quantized tensor as a tensor of their own.
Buffers narrowed(const Case& whole, Buffers buffers, const Case& part) {
    std::vector<CodeTensor> from = output_tensors(whole), to = output_tensors(part);
    const std::vector<Buffer> held = output_buffers(whole);
    for (std::size_t i = 0; i < held.size(); ++i) {
        if (is_strided(held[i].spec))
            from[held[i].tensor].bytes = std::move(buffers[i]);
        else
            collect(held[i], {buffers[i], {}}, {from, {}});
    }
    const Blocking wide = blocking_of(whole), narrow = blocking_of(part);
    for (std::int64_t block = 0; block < block_grid(narrow).count(); ++block) {
        const auto at = static_cast<std::int64_t>(part.index) + block;
        const BlockPlace source = place_of(wide, at), place = place_of(narrow, block);
        for (int lane = 0; lane < place.count; ++lane)
            to[0].set(place.element(lane), from[0].at(source.element(lane)));
        to[1].set(static_cast<std::size_t>(block), from[1].at(static_cast<std::size_t>(at)));
    }
    for (std::size_t i = 2; i < to.size(); ++i) to[i].bytes = from[i].bytes;
    Buffers made;
    for (const Buffer& buffer : output_buffers(part))
        made.push_back(is_strided(buffer.spec) ? std::move(to[buffer.tensor].bytes)
                                               : lay_out(buffer, to, std::byte{0}));
    return made;
}

// May `part` be some blocks of `whole`, in its own words?
bool is_part(const Case& whole, Case part) {
    if (whole.operation != OperationKind::quantize || whole.axis == BlockAxis::both) return false;
    const auto blocks = static_cast<std::uint64_t>(block_grid(part).count());
    const auto held = static_cast<std::uint64_t>(block_grid(whole).count());
    if (part.index > held || blocks > held - part.index) return false;
    part.index = whole.index;
    part.rows = whole.rows;
    part.columns = whole.columns;
    if (!whole.tensor_number) part.tensor_number.reset();
    return part == whole;
}

}  // namespace

std::string manifest_path(const std::string& folder) {
    return (fs::path(folder) / "capture.json").string();
}

Status Capture::take_manifest(const std::string& folder) {
    const std::string path = manifest_path(folder);
    const auto text = text_of_file(path);
    if (!text) return bad_input(folder + " holds no capture: " + text.error().message);
    const Json json = Json::parse(text.value(), nullptr, false);
    if (!json.is_object() || number_in(json, "mxcheck_capture") != version_known)
        return bad_input(path + ": is no manifest of a capture that this mxcheck reads");
    std::string names, made;
    for (const auto& [name, counts] : object_in(json, "functions").items()) {
        names += (names.empty() ? "" : ", ") + printable(name);
        std::string line = printable(name) + ": " + grouped(number_in(counts, "kept")) + " of " +
                           grouped(number_in(counts, "seen")) + " calls kept";
        if (const std::string out = counts_text(object_in(counts, "left_out")); !out.empty())
            line += "; " + out;
        left_out_.push_back(line);
        for (const char* reason : {"no_case", "lost"})
            if (const std::string gap = counts_text(object_in(counts, reason)); !gap.empty())
                gaps_.push_back(printable(name) + ": " + gap);
    }
    for (const auto& [key, version] : object_in(json, "made_by").items())
        if (version.is_string())
            made += (made.empty() ? "" : ", ") + printable(key) + " " +
                    printable(version.get<std::string>());
    facts_ = {{"name", names.empty() ? "nothing" : names},
              {"version", made},
              {"notes", "captured calls; " + joined(left_out_, "; ")}};
    if (is_set(json, "complete")) {
        const auto files = json.find("calls");
        for (const Json& call : files != json.end() && files->is_array() ? *files : Json::array()) {
            const std::string name = call.is_object() ? text_in(call, "file") : "";
            if (!is_plain_name(name))
                return bad_input(path + ": names a file " + data::in_quotes(name));
            files_.push_back((fs::path(folder) / name).string());
            digests_[files_.back()] = text_in(call, "sha256");
        }
        return success();
    }
    const std::string stopped = printable(text_in(json, "stopped"));
    gaps_.push_back(stopped.empty() ? "the capture did not end, or not in order: its files are "
                                      "judged as far as they are there"
                                    : "the capture stopped: " + stopped);
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed))
        if (entry->path().extension() == ".safetensors") files_.push_back(entry->path().string());
    std::ranges::sort(files_);
    return success();
}

Status Capture::take_file(const std::string& path, const CaptureOptions& options) {
    const auto found = digests_.find(path);
    if (found != digests_.end() && file_hash(path) != found->second)
        return bad_input(path + ": is missing, or not what was captured: its digest is another");
    const auto listing = data::list_tensors(path);
    if (!listing) return listing.error();
    const auto& metadata = listing.value().metadata;
    const auto key = std::ranges::find(metadata, data::captured_key,
                                       &std::pair<std::string, std::string>::first);
    const Json json = key == metadata.end() ? Json() : Json::parse(key->second, nullptr, false);
    if (!json.is_object() || text_in(json, "case").empty())
        return bad_input(path + ": says of no call that it holds it");
    const auto c = case_of_call(text_in(json, "case"), path, options);
    if (!c) {
        gaps_.push_back(path + ": " + c.error().message);
        return success();
    }
    Call call{c.value(), path, {}, std::nullopt};
    const auto outputs = json.find("outputs");
    for (const Json& name : outputs != json.end() && outputs->is_array() ? *outputs : Json::array())
        call.outputs.push_back(name.is_string() ? name.get<std::string>() : "");
    const Json& raised = object_in(json, "refusal");
    if (!raised.empty()) {
        const bool is_open = text_in(raised, "kind") == "not_supported";
        call.refusal = refused(is_open ? AnswerKind::not_supported : AnswerKind::device_error,
                               printable(text_in(raised, "text")));
    }
    cases_.push_back(call.c);
    calls_.emplace(call.c.data, std::move(call));
    return success();
}

Expected<Capture> Capture::read(const std::string& folder, const CaptureOptions& options) {
    Capture capture;
    if (const Status taken = capture.take_manifest(folder); !taken) return taken.error();
    for (const std::string& path : capture.files_)
        if (const Status taken = capture.take_file(path, options); !taken) return taken.error();
    return capture;
}

const Capture::Call* Capture::call_of(const Question& question) const {
    const auto c = parse_case(question.name);
    const auto found = c ? calls_.find(c.value().data) : calls_.end();
    if (found == calls_.end()) return nullptr;
    const Case& whole = found->second.c;
    return c.value() == whole || is_part(whole, c.value()) ? &found->second : nullptr;
}

DeviceAnswer Capture::ask(const Question& question) const {
    const Call* call = call_of(question);
    if (call == nullptr)
        return refused(AnswerKind::host_error, "the capture holds no answer to this case");
    if (call->refusal) return *call->refusal;
    const Case& whole = call->c;
    const Case asked = parse_case(question.name).value();
    auto buffers = read_buffers(call->path, call->outputs, question_without_data(whole).outputs);
    if (!buffers) return refused(AnswerKind::device_error, buffers.error().message);
    if (!(asked == whole)) buffers = narrowed(whole, std::move(buffers.value()), asked);
    DeviceAnswer answer;
    for (std::size_t i = 0; i < question.outputs.size(); ++i) {
        OutputTensor output;
        output.bytes = std::move(buffers.value()[i]);
        const TensorSpec& spec = question.outputs[i];
        output.flags.resize(is_strided(spec) ? element_count(spec) : output.bytes.size());
        answer.outputs.push_back(std::move(output));
    }
    answer.kind = AnswerKind::answered;
    return answer;
}

Client Capture::client() const {
    return {.ask = [this](const Question& question) { return ask(question); },
            .refuses = [this](const Question& question) -> std::optional<DeviceAnswer> {
                const Call* call = call_of(question);
                return call == nullptr ? std::nullopt : call->refusal;
            },
            .facts = facts_};
}

}  // namespace mx::session
