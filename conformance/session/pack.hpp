// Requests and answers in files: what gen writes and check reads. A request is named by its case
// line, a digest of its inputs and its place in the pack, so that the answers alone say what was
// asked, and a file that is cut between two of them is seen to be.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/data/suite.hpp"
#include "device/host/client.hpp"
#include "device/subprocess/messages.hpp"

namespace mx::session {

// The request `number` of `total`, counted from 1. Both are 0 where nobody counted: before mxcheck
// wrote it down.
struct PackPlace {
    std::uint64_t number = 0, total = 0;
    bool operator==(const PackPlace&) const = default;
};

struct RequestId {
    Case c;
    std::string digest;
    PackPlace place = {};
};

// "quantize format=... seed=0 inputs=0123456789abcdef request=3/120"
std::string print(const RequestId& id);
Expected<RequestId> parse_request_id(const std::string& text);
RequestId request_id(const Case& c, const Question& question, const PackPlace& place);

// A request as it stands in a pack.
struct PackedRequest {
    const Case& c;
    const Question& question;
    PackPlace place;
};
std::string pack_text(const PackedRequest& packed, pipe::Form form);

// What the data of a pack of these cases take, the lines that describe them left out.
std::uint64_t pack_size(const std::vector<Case>& cases, pipe::Form form);

// The requests of a pack, in order and all of them, without their inputs, which must be those that
// the requests were made with. The path is for sentences.
Expected<std::vector<RequestId>> read_pack(const std::string& path);
Expected<std::vector<RequestId>> parse_pack(std::string_view pack, const std::string& path);

// A file of answers, whole in memory. One that is cut, at whatever byte, is read as far as it goes:
// an answer of which something is missing counts as none, and no device is blamed for it.
class RecordedAnswers {
public:
    static Expected<RecordedAnswers> read(const std::string& path);
    static Expected<RecordedAnswers> parse(std::string answers, const std::string& path);

    const Facts& facts() const { return facts_; }
    const std::vector<Case>& cases() const { return cases_; }  // in the order of the file

    // May they be judged without their pack? A file of answers alone is not to name other files,
    // nor shapes that nothing in it is the size of. The error names the case.
    Status stands_alone() const;

    // Are they answers to every request of their pack? The error says how many there are, and where
    // the file ends.
    Status is_whole() const;

    // Who answers as the device would have done, to questions whose name is a printed case.
    // host_error when there is no answer, or when the inputs have changed since. These answers must
    // outlive the client.
    Client client() const;

private:
    struct Answer {
        std::string digest;
        pipe::AnswerLine line;
        std::vector<std::string_view> data;  // lines of digits, or the bytes of each output
    };

    DeviceAnswer ask(const Question& question) const;
    DeviceAnswer no_answer() const;
    std::optional<DeviceAnswer> refuses(const Question& question) const;
    bool is_cut(const Answer& answer, const Question& question) const;

    std::shared_ptr<const std::string> text_;  // of which the answers are parts
    std::string path_;
    std::string end_;           // "line 7, at byte 812"
    bool ends_line_ = true;     // or within its last line
    bool ends_message_ = true;  // or within a message, or before the first
    std::string last_;          // the printed case of the last answer
    Facts facts_;
    std::vector<Case> cases_;
    std::uint64_t requests_ = 0;  // of the largest pack that is answered; 0: nobody counted
    std::map<std::string, Answer> answers_;  // by the printed case
};

}  // namespace mx::session
