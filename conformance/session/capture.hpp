// A folder of calls that the Python package captured (conformance/python/mxcheck/_capture.py): what
// functions and layers were given becomes cases, and what they gave is answered as if the device
// were here. Used by check and replay; knows nothing of Python.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/case/case.hpp"
#include "device/host/client.hpp"

namespace mx::session {

// The key of a demand that nothing meets: its value is one of Capture::gaps().
inline constexpr const char* gap_key = "not judged";

// Instead of what the capture says of every call.
struct CaptureOptions {
    std::string dialect = {};  // of calls of a quantizer
    std::string model = {};    // of products
    bool operator==(const CaptureOptions&) const = default;
};

std::string manifest_path(const std::string& folder);

inline bool is_captured(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
}

// Tensors stay in their files until their case is asked; of each file the words alone are held.
class Capture {
public:
    // As error: no folder of a capture, one of another version, a file that is missing or is not
    // the one that was written.
    static Expected<Capture> read(const std::string& folder, const CaptureOptions& options = {});

    const std::vector<Case>& cases() const { return cases_; }  // in the order of the calls
    const Facts& facts() const { return facts_; }
    // What was left out because that was asked for, a line for each function.
    const std::vector<std::string>& left_out() const { return left_out_; }
    // Why the cases are not all that should have been captured: sentences; none if they are.
    const std::vector<std::string>& gaps() const { return gaps_; }

    // Who answers as the functions did, questions whose name is a printed case: one of cases(), or
    // some blocks of one. host_error to any other. This capture must outlive it.
    Client client() const;

private:
    struct Call {
        Case c;
        std::string path;
        std::vector<std::string> outputs;     // names of tensors, in the order of the device ABI
        std::optional<DeviceAnswer> refusal;  // where the function raised
    };

    Status take_manifest(const std::string& folder);
    Status take_file(const std::string& path, const CaptureOptions& options);
    const Call* call_of(const Question& question) const;
    DeviceAnswer ask(const Question& question) const;

    std::vector<Case> cases_;
    std::vector<std::string> files_;
    std::map<std::string, std::string> digests_;  // by path
    std::map<std::string, Call> calls_;           // by the data of their case
    Facts facts_;
    std::vector<std::string> left_out_, gaps_;
};

}  // namespace mx::session
