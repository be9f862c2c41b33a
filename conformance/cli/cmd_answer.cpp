// mxcheck answer: the requests of a pack, put to a device of this program; its answers become a
// file as check reads it. Judges nothing, and keeps no answer of a device that misbehaved.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/case/fields.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/session/pack.hpp"
#include "device/host/client.hpp"
#include "reference/base/files.hpp"
#include "reference/base/text.hpp"

namespace mx::cli {
namespace {

using Json = nlohmann::ordered_json;

struct AnswerOptions {
    std::string pack;
    std::string out;
    std::string note;
    DeviceChoice choice;
    std::uint64_t timeout = 60;
};

std::string line_of(const Json& json) {
    return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

// Where the answers come from: a comment for people, and the facts for the reports of check.
std::string opening(const AnswerOptions& options, const Facts& facts) {
    std::string from = "# Answers of";
    Json told = Json::object();
    for (const auto& [key, value] : facts) {
        told[key] = value;
        if (key != "notes") from += (told.size() == 1 ? " " : ", ") + value;
    }
    const std::string device = printable(device_argument(options.choice));  // without the blank
    from += ", " + session::utc_now().substr(0, 10) + ", by mxcheck answer" +
            (device.empty() ? "" : " " + device) + " of " + version_text() + "\n";
    if (!options.note.empty()) from += "# " + options.note + "\n";
    return from + line_of({{"mxpipe", pipe::protocol_version}, {"form", "hex"}, {"facts", told}});
}

std::string text_of(const std::string& id, const DeviceAnswer& answer) {
    if (answer.kind == AnswerKind::not_supported)
        return line_of({{"id", id}, {"status", "not_supported"}, {"reason", answer.reason}});
    std::string text = line_of({{"id", id}, {"status", "ok"}, {"form", "hex"}});
    for (const OutputTensor& output : answer.outputs) pipe::append_hex_line(text, output.bytes);
    return text;
}

struct Recorded {
    std::string text;
    std::uint64_t answered = 0;
    std::uint64_t refused = 0;
};

Expected<Recorded> record(const std::vector<session::RequestId>& requests, const Client& client) {
    Sources sources;
    Recorded recorded;
    for (const session::RequestId& request : requests) {
        const Case& c = request.c;
        const auto source = sources.open(c);
        if (!source) return source.error();
        std::vector<std::vector<std::byte>> storage;
        const std::vector<CodeTensor> inputs = make_inputs(c, *source.value());
        const Question question = make_question(c, inputs, storage);
        const session::RequestId id = session::request_id(c, question, request.place);
        if (id.digest != request.digest)
            return bad_input(
                "nothing is recorded, for the pack was made with other inputs than this "
                "mxcheck makes, at " +
                print(c) + "; gen makes it anew");
        const DeviceAnswer answer = client.ask(question);
        const auto outputs = outputs_of(answer, question);
        if (!outputs && answer.kind != AnswerKind::not_supported)
            return Error{outputs.error().kind, "nothing is recorded, for at " + print(c) + ": " +
                                                   outputs.error().message};
        recorded.text += text_of(print(id), answer);
        ++(answer.kind == AnswerKind::answered ? recorded.answered : recorded.refused);
    }
    return recorded;
}

int answer(const AnswerOptions& options) {
    if (options.note.find('\n') != std::string::npos)
        return fail_with({ErrorKind::bad_input, "--note takes one line"});
    std::error_code ignored;
    if (std::filesystem::equivalent(options.pack, options.out, ignored))
        return fail_with({ErrorKind::bad_input, "--out is the pack itself"});
    const auto requests = session::read_pack(options.pack);
    if (!requests) return fail_with(requests.error());
    const auto client = open_device(options.choice, options.timeout);
    if (!client) return fail_with(client.error());
    const auto recorded = record(requests.value(), client.value());
    if (!recorded) return fail_with(recorded.error());
    const std::string text = opening(options, client.value().facts) + recorded.value().text;
    const Status written =
        write_atomically(options.out, {std::as_bytes(std::span<const char>(text))});
    if (!written) return fail_with(written.error());
    std::printf("wrote %s: %llu answers, %llu not supported, %zu bytes\n", options.out.c_str(),
                static_cast<unsigned long long>(recorded.value().answered),
                static_cast<unsigned long long>(recorded.value().refused), text.size());
    return recorded.value().answered == 0 ? exit_nothing_tested : exit_conformant;
}

}  // namespace

Command answer_command() {
    auto o = std::make_shared<AnswerOptions>();
    std::vector<Option> options{{"PACK", "requests, as gen writes them", &o->pack, true},
                                {"--out", "the file to write", &o->out, true},
                                {"--note", "a line to stand on top of it", &o->note}};
    for (Option& option : options_of(o->choice, o->timeout)) options.push_back(std::move(option));
    return {"answer", "record what a device answers to a pack",
            "mxcheck answer ocp.pack --device cuda --out ocp.answers\n"
            "  mxcheck check ocp.pack ocp.answers",
            std::move(options), [o] { return answer(*o); }};
}

}  // namespace mx::cli
