// Requests and answers in files: what gen writes and check reads. A request is named by its case
// line and a digest of its inputs, so that the answers alone say what was asked.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/data/suite.hpp"
#include "device/host/question.hpp"
#include "device/subprocess/messages.hpp"

namespace mx::cli {

// "quantize format=... seed=0 inputs=0123456789abcdef"
std::string request_id(const Case& c, const Question& question);

// What stands in front of the digest, and the digest.
struct RequestId {
    Case c;
    std::string digest;
};
Expected<RequestId> parse_request_id(const std::string& id);

// The request of one case, as it stands in a pack.
std::string pack_text(const Case& c, const Question& question, pipe::Form form);

// The requests of a pack, in order, without their inputs. The path is for sentences.
Expected<std::vector<RequestId>> read_pack(const std::string& path);
Expected<std::vector<RequestId>> parse_pack(std::string_view pack, const std::string& path);

// A file of answers, whole in memory.
class RecordedAnswers {
public:
    static Expected<RecordedAnswers> read(const std::string& path);
    static Expected<RecordedAnswers> parse(std::string_view answers, const std::string& path);

    const Facts& facts() const { return facts_; }
    const std::vector<Case>& cases() const { return cases_; }  // in the order of the file

    // The answer as the device would have given it. host_error when there is none, or when the
    // inputs have changed since.
    DeviceAnswer ask(const Case& c, const Question& question) const;

private:
    struct Answer {
        std::string digest;
        pipe::AnswerLine line;
        std::vector<std::string> data;  // lines of digits, or one text of all bytes
    };

    std::string path_;
    Facts facts_;
    std::vector<Case> cases_;
    std::map<std::string, Answer> answers_;  // by the printed case
};

}  // namespace mx::cli
