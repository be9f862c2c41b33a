// Any bytes as a pack of requests and as a file of recorded answers: refused with a sentence, or
// requests that can be named again and answers that can be asked for.
#include "conformance/run/evidence.hpp"
#include "conformance/session/pack.hpp"
#include "fuzz/targets/small_case.hpp"
#include "fuzz/targets/text.hpp"

namespace {

void check_pack(std::string_view text) {
    using namespace mx::fuzz;
    const auto requests = mx::session::parse_pack(text, "fuzz.pack");
    if (!requests) return require_sentence(requests.error());
    for (const mx::session::RequestId& request : requests.value()) {
        const auto again = mx::session::parse_request_id(print(request));
        require("a request can be named again", again.ok());
        require("by the same name", again.value().c == request.c &&
                                        again.value().digest == request.digest &&
                                        again.value().place == request.place);
    }
}

void check_answers(std::string_view text) {
    using namespace mx::fuzz;
    const auto answers = mx::session::RecordedAnswers::parse(std::string(text), "fuzz.answers");
    if (!answers) return require_sentence(answers.error());
    if (const mx::Status alone = answers.value().stands_alone(); !alone)
        require_sentence(alone.error());
    for (const mx::Case& c : answers.value().cases()) {
        const auto inputs = small_inputs(c);
        if (!inputs) continue;
        std::vector<std::vector<std::byte>> storage;
        const mx::Question question = mx::make_question(c, *inputs, storage);
        const mx::DeviceAnswer answer = answers.value().client().ask(question);
        if (answer.kind == mx::AnswerKind::answered)
            require("there is every output", answer.outputs.size() == question.outputs.size());
        else
            require("no answer has a reason, unless the device gave none",
                    !answer.reason.empty() || answer.kind == mx::AnswerKind::not_supported);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    check_pack(mx::fuzz::as_text(data, size));
    check_answers(mx::fuzz::as_text(data, size));
    return 0;
}
