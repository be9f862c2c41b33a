// The messages between IsolatedDevice and its child, as strings of bytes. Both ends are the same
// program; what comes from the child is still distrusted, since a plug-in may have trampled on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/host/call_buffers.hpp"
#include "device/host/device.hpp"
#include "device/host/operation.hpp"
#include "reference/base/status.hpp"

namespace mx {

// The answer to `algorithms` is a CallResult whose message has a name on each line.
enum class Command : std::uint64_t { supports = 1, run = 2, algorithms = 3 };

struct PlacedSpec {
    TensorSpec spec = {};
    std::uint64_t offset = 0;
};

struct Request {
    Command command = Command::supports;
    std::uint64_t memory_size = 0;  // to map before the call
    Operation operation = {};
    std::vector<PlacedSpec> inputs = {};
    std::vector<PlacedSpec> outputs = {};
};

std::string encode(const Request& request);
std::string encode(const CallResult& result);
std::string encode(const Expected<Facts>& opened);  // what a child says first

// Empty for bytes that encode() cannot have made.
std::optional<Request> decode_request(std::string_view message);
std::optional<CallResult> decode_result(std::string_view message);
std::optional<Expected<Facts>> decode_opened(std::string_view message);

}  // namespace mx
