// See pack.hpp.
#include "conformance/session/pack.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "conformance/case/fields.hpp"
#include "conformance/run/evidence.hpp"
#include "device/host/layout.hpp"
#include "reference/base/files.hpp"
#include "reference/proof/sha256.hpp"

namespace mx::session {
namespace {

constexpr std::string_view digest_key = " inputs=";
constexpr std::size_t digest_digits = 16;
constexpr std::string_view place_key = " request=";

// The inputs as they travel, with what holds the copies.
struct Load {
    std::vector<pipe::Cargo> cargo;
    std::vector<std::vector<std::byte>> scratch;
};

Load load(const Question& question) {
    Load load;
    load.scratch.resize(question.inputs.size());
    for (std::size_t i = 0; i < question.inputs.size(); ++i) {
        const InputTensor& input = question.inputs[i];
        load.cargo.push_back(
            {input.spec, pipe::as_it_travels(input.spec, input.data, load.scratch[i])});
    }
    return load;
}

std::string digest_of(std::string_view bytes) {
    return sha256(bytes).substr(0, digest_digits);
}

std::string digest_of(const std::vector<pipe::Cargo>& cargo) {
    std::string bytes;
    for (const pipe::Cargo& input : cargo)
        bytes.append(reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size());
    return digest_of(bytes);
}

// A file of messages, read one piece after the other.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool at_end() const { return at_ >= text_.size(); }
    bool at_message() const { return !at_end() && text_[at_] == '{'; }
    std::size_t line_number() const { return line_; }
    // Where the text ends.
    std::string end() const {
        const auto lines = static_cast<std::size_t>(std::ranges::count(text_, '\n'));
        const std::size_t line = ends_line() ? lines : lines + 1;
        return "line " + std::to_string(line) + ", at byte " + std::to_string(text_.size());
    }
    bool ends_line() const { return text_.ends_with('\n'); }

    // Without its line end, which is that of another system in some files.
    std::string_view line() {
        if (at_end()) return "";
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, end - at_);
        if (line.ends_with('\r')) line.remove_suffix(1);
        at_ = end + 1;
        ++line_;
        return line;
    }
    std::string_view bytes(std::size_t count) {
        const std::string_view bytes = at_end() ? "" : text_.substr(at_, count);
        at_ += bytes.size();
        return bytes;
    }

private:
    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
};

Error in_line(const std::string& path, std::size_t line, const std::string& what) {
    return bad_input(path + ":" + std::to_string(line) + ": " + what);
}

std::uint64_t bytes_of(const std::vector<TensorSpec>& tensors) {
    std::uint64_t bytes = 0;
    for (const TensorSpec& tensor : tensors) bytes += pipe::travelling_size(tensor);
    return bytes;
}

std::vector<TensorSpec> input_specs(const Question& question) {
    std::vector<TensorSpec> specs;
    for (const InputTensor& input : question.inputs) specs.push_back(input.spec);
    return specs;
}

std::uint64_t input_bytes_of(const Case& c) {
    return bytes_of(input_specs(question_without_data(c)));
}

// Does only the end of this message miss? What stands there is no error then.
bool is_begun(std::string_view message) {
    try {
        return nlohmann::json::parse(message).is_discarded();
    } catch (const nlohmann::json::parse_error& error) {
        return error.byte > message.size();
    }
}

std::vector<std::string_view> read_data(Reader& reader, const pipe::AnswerLine& line) {
    std::vector<std::string_view> data;
    if (line.status != MX_OK) return data;
    if (line.form == pipe::Form::hex) {
        while (!reader.at_end() && !reader.at_message()) data.push_back(reader.line());
        return data;
    }
    for (const std::uint64_t size : line.sizes) data.push_back(reader.bytes(size));
    return data;
}

DeviceAnswer refusal(AnswerKind kind, std::string reason) {
    DeviceAnswer answer;
    answer.kind = kind;
    answer.reason = std::move(reason);
    return answer;
}

// Of an answer that is not MX_OK.
DeviceAnswer refusal_of_line(const pipe::AnswerLine& line) {
    if (line.status == MX_NOT_SUPPORTED) return refusal(AnswerKind::not_supported, line.reason);
    return refusal(AnswerKind::device_error,
                   "answered " + name_of(line.status) + ": " + line.reason);
}

// "3/120"
std::optional<PackPlace> parse_place(std::string_view text) {
    PackPlace place;
    const char* const end = text.data() + text.size();
    const auto number = std::from_chars(text.data(), end, place.number);
    if (number.ec != std::errc{} || number.ptr == end || *number.ptr != '/') return std::nullopt;
    const auto total = std::from_chars(number.ptr + 1, end, place.total);
    const bool is_read = total.ec == std::errc{} && total.ptr == end;
    if (!is_read || place.number == 0 || place.number > place.total) return std::nullopt;
    return place;
}

// "request 3 of 120", or "a request without its place".
std::string place_text(const PackPlace& place) {
    if (place.total == 0) return "a request without its place";
    return "request " + std::to_string(place.number) + " of " + std::to_string(place.total);
}

// Of a pack that counts its requests, the next one must stand where it says. One of an mxcheck that
// did not count has no places at all.
Status check_place(const std::vector<RequestId>& before, const PackPlace& place) {
    PackPlace due{before.size() + 1, place.total};
    if (!before.empty()) due.total = before.front().place.total;
    if (due.total == 0) due.number = 0;
    if (place == due) return success();
    return bad_input(place_text(place) + " stands where " + place_text(due) +
                     " belongs: part of the pack is missing or another's; gen writes it anew");
}

// The data of a request. An error says what is wrong with them.
Status read_inputs(Reader& reader, const nlohmann::json& request, std::string& bytes) {
    const bool binary = request.contains("form") && request["form"] == "binary";
    for (const auto& input : request["inputs"]) {
        const bool sized =
            input.is_object() && input.contains("bytes") && input["bytes"].is_number_unsigned();
        if (!sized) return bad_input("an input without its number of bytes");
        const auto size = input["bytes"].get<std::size_t>();
        const std::string_view data = binary ? reader.bytes(size) : reader.line();
        const std::size_t whole = binary ? data.size() : data.size() / 2;
        if (whole != size || (!binary && data.size() % 2 != 0))
            return bad_input("the data of this request is not whole");
        const std::size_t before = bytes.size();
        bytes.resize(before + size);
        if (binary)
            data.copy(bytes.data() + before, size);
        else if (const Status digits =
                     pipe::read_hex(data, std::as_writable_bytes(std::span(bytes).subspan(before)));
                 !digits)
            return digits;
    }
    return success();
}

// The bytes of one output from its line of digits or its bytes.
Status decode(std::string_view data, pipe::Form form, std::span<std::byte> bytes) {
    if (form == pipe::Form::hex) return pipe::read_hex(data, bytes);
    if (data.size() != bytes.size())
        return Error{ErrorKind::device, std::to_string(data.size()) + " bytes where " +
                                            std::to_string(bytes.size()) + " belong"};
    if (!data.empty()) std::memcpy(bytes.data(), data.data(), data.size());
    return success();
}

}  // namespace

std::uint64_t pack_size(const std::vector<Case>& cases, pipe::Form form) {
    std::uint64_t bytes = 0;
    for (const Case& c : cases) bytes += input_bytes_of(c);
    return form == pipe::Form::hex ? 2 * bytes : bytes;
}

std::string print(const RequestId& id) {
    std::string text = print(id.c) + std::string(digest_key) + id.digest;
    if (id.place.total == 0) return text;
    return text + std::string(place_key) + std::to_string(id.place.number) + "/" +
           std::to_string(id.place.total);
}

Expected<RequestId> parse_request_id(const std::string& text) {
    const std::size_t at = text.rfind(digest_key);
    if (at == std::string::npos)
        return bad_input("id '" + text + "' is none that mxcheck gen writes");
    const auto c = parse_case(text.substr(0, at));
    if (!c) return c.error();
    RequestId id{c.value(), text.substr(at + digest_key.size())};
    const std::size_t cut = id.digest.find(place_key);
    if (cut == std::string::npos) return id;
    const auto place = parse_place(std::string_view(id.digest).substr(cut + place_key.size()));
    if (!place) return bad_input("id '" + text + "' does not end with a request's place, as 3/120");
    id.place = *place;
    id.digest.resize(cut);
    return id;
}

RequestId request_id(const Case& c, const Question& question, const PackPlace& place) {
    return {c, digest_of(load(question).cargo), place};
}

std::string pack_text(const PackedRequest& packed, pipe::Form form) {
    Load loaded = load(packed.question);
    pipe::PipeRequest request;
    request.id = print(RequestId{packed.c, digest_of(loaded.cargo), packed.place});
    request.form = form;
    request.operation = packed.question.operation;
    request.inputs = std::move(loaded.cargo);
    request.outputs = packed.question.outputs;
    return pipe::to_text(request);
}

Expected<std::vector<RequestId>> read_pack(const std::string& path) {
    const auto text = text_of_file(path);
    if (!text) return text.error();
    return parse_pack(text.value(), path);
}

Expected<std::vector<RequestId>> parse_pack(std::string_view pack, const std::string& path) {
    Reader reader(pack);
    std::vector<RequestId> requests;
    std::set<std::string> seen;
    while (!reader.at_end()) {
        const std::size_t line = reader.line_number();
        const auto json = nlohmann::json::parse(reader.line(), nullptr, false);
        if (!json.is_object() || !json.contains("id") || !json["id"].is_string() ||
            !json.contains("inputs") || !json["inputs"].is_array())
            return in_line(path, line, "no request that mxcheck gen writes");
        const auto id = parse_request_id(json["id"]);
        if (!id) return in_line(path, line, id.error().message);
        if (const Status in_place = check_place(requests, id.value().place); !in_place)
            return in_line(path, line, in_place.error().message);
        if (!seen.insert(print(id.value().c)).second)
            return in_line(path, line, "what was asked for before: a pack asks for each case once");
        requests.push_back(id.value());
        std::string bytes;
        if (const Status read = read_inputs(reader, json, bytes); !read)
            return in_line(path, line, read.error().message);
        if (input_bytes_of(id.value().c) != bytes.size() || digest_of(bytes) != id.value().digest)
            return in_line(path, line,
                           "the data of this request are not the inputs of its case: they were "
                           "changed; gen writes the pack anew");
    }
    if (requests.empty()) return bad_input(path + ": holds no request");
    if (const std::uint64_t total = requests.front().place.total; requests.size() < total)
        return bad_input(path + ": ends after " + place_text({requests.size(), total}) +
                         ": the pack is cut; gen writes it anew");
    return requests;
}

Expected<RecordedAnswers> RecordedAnswers::read(const std::string& path) {
    auto text = text_of_file(path);
    if (!text) return text.error();
    return parse(std::move(text).value(), path);
}

Expected<RecordedAnswers> RecordedAnswers::parse(std::string answers, const std::string& path) {
    RecordedAnswers recorded;
    recorded.text_ = std::make_shared<const std::string>(std::move(answers));
    Reader reader(*recorded.text_);
    recorded.path_ = path;
    recorded.end_ = reader.end();
    recorded.ends_line_ = reader.ends_line();
    bool greeted = false;
    while (!reader.at_end()) {
        const std::size_t number = reader.line_number();
        const std::string_view text = reader.line();
        if (text.starts_with('#')) continue;  // where the answers come from
        recorded.ends_message_ = !reader.at_end() || recorded.ends_line_ || !is_begun(text);
        if (!recorded.ends_message_) break;
        if (!greeted) {
            auto hello = pipe::parse_hello(text);
            if (!hello) return in_line(path, number, hello.error().message);
            recorded.facts_ = std::move(hello).value().facts;
            greeted = true;
            continue;
        }
        auto line = pipe::parse_answer(text);
        if (!line) return in_line(path, number, line.error().message);
        const auto id = parse_request_id(line.value().id);
        if (!id) return in_line(path, number, id.error().message);
        std::vector<std::string_view> data = read_data(reader, line.value());
        const bool is_new =
            recorded.answers_
                .try_emplace(print(id.value().c),
                             Answer{id.value().digest, std::move(line).value(), std::move(data)})
                .second;
        if (!is_new) return in_line(path, number, "a second answer to " + print(id.value().c));
        recorded.last_ = print(id.value().c);
        recorded.cases_.push_back(id.value().c);
        recorded.requests_ = std::max(recorded.requests_, id.value().place.total);
    }
    recorded.ends_message_ = recorded.ends_message_ && !recorded.cases_.empty();
    return recorded;
}

Status RecordedAnswers::is_whole() const {
    if (ends_message_ && cases_.size() >= requests_) return success();
    const std::string total =
        requests_ == 0 ? "" : " to a pack of " + std::to_string(requests_) + " requests";
    return bad_input(path_ + ": ends in " + end_ + ", and holds " + std::to_string(cases_.size()) +
                     " answers" + total + ": the file is cut, or its device stopped" +
                     (cases_.empty()
                          ? ""
                          : ". With the pack before it, those that are here are judged and "
                            "the others counted: mxcheck check PACK " +
                                path_));
}

Status RecordedAnswers::stands_alone() const {
    // As much as a case of the level full has, some times over.
    constexpr std::uint64_t bytes_max = std::uint64_t{1} << 28;
    for (const Case& c : cases_) {
        const Question question = question_without_data(c);
        const std::uint64_t bytes = bytes_of(input_specs(question)) + bytes_of(question.outputs);
        const bool is_of_file = c.data.starts_with(file_prefix);
        if (!is_of_file && bytes <= bytes_max) continue;
        return bad_input(
            path_ + ": a file of answers alone may not ask for " +
            (is_of_file ? "another file" : std::to_string(bytes) + " bytes of tensors") +
            "; give the pack before it: mxcheck check PACK " + path_ + ", at " + print(c));
    }
    return success();
}

// Only the last answer of a file can be: of it something is missing.
bool RecordedAnswers::is_cut(const Answer& answer, const Question& question) const {
    if (answer.line.status != MX_OK || &answer != &answers_.at(last_)) return false;
    if (answer.line.form == pipe::Form::binary)
        return !std::ranges::equal(
            answer.data, answer.line.sizes,
            [](std::string_view bytes, std::uint64_t size) { return bytes.size() == size; });
    if (answer.data.size() != question.outputs.size())
        return answer.data.size() < question.outputs.size();
    return !ends_line_ && !answer.data.empty() &&
           answer.data.back().size() < 2 * pipe::travelling_size(question.outputs.back());
}

Client RecordedAnswers::client() const {
    return {.ask = [this](const Question& question) { return ask(question); },
            .refuses = [this](const Question& question) { return refuses(question); },
            .facts = facts_};
}

// What can be said before the inputs of a case are made, which may be large.
std::optional<DeviceAnswer> RecordedAnswers::refuses(const Question& question) const {
    const auto found = answers_.find(question.name);
    if (found == answers_.end()) return no_answer();
    const Answer& answer = found->second;
    if (answer.line.status == MX_OK) return std::nullopt;
    return refusal_of_line(answer.line);
}

DeviceAnswer RecordedAnswers::no_answer() const {
    return refusal(AnswerKind::host_error,
                   path_ + " holds no answer to this case; it ends in " + end_);
}

DeviceAnswer RecordedAnswers::ask(const Question& question) const {
    const auto found = answers_.find(question.name);
    if (found == answers_.end()) return no_answer();
    const Answer& answer = found->second;
    if (const std::string digest = digest_of(load(question).cargo); digest != answer.digest)
        return refusal(AnswerKind::host_error, "the inputs of this case (" + digest +
                                                   ") are not those that " + path_ + " answers (" +
                                                   answer.digest + "); record it again");
    if (is_cut(answer, question))
        return refusal(AnswerKind::host_error,
                       path_ + " is cut within the answer to this case, in " + end_);
    if (answer.line.status != MX_OK) return refusal_of_line(answer.line);
    if (answer.data.size() != question.outputs.size())
        return refusal(AnswerKind::device_error,
                       std::to_string(answer.data.size()) + " outputs where " +
                           std::to_string(question.outputs.size()) + " belong");
    DeviceAnswer made;
    made.is_recorded = true;
    for (std::size_t i = 0; i < question.outputs.size(); ++i) {
        const TensorSpec& spec = question.outputs[i];
        OutputTensor output;
        output.bytes.resize(pipe::travelling_size(spec));
        output.flags.resize(is_strided(spec) ? element_count(spec) : output.bytes.size());
        if (const Status read = decode(answer.data[i], answer.line.form, output.bytes); !read)
            return refusal(AnswerKind::device_error,
                           "output " + std::to_string(i) + ": " + read.error().message);
        made.outputs.push_back(std::move(output));
    }
    made.kind = AnswerKind::answered;
    return made;
}

}  // namespace mx::session
