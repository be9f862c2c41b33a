// Any bytes as a message between the program and a device's process: refused, or exactly what
// encoding the decoded message gives.
#include "device/host/protocol.hpp"
#include "fuzz/targets/text.hpp"

namespace {

template <typename Message>
void check(std::string_view bytes, const Message& message) {
    if (message) mx::fuzz::require("one message, one text", mx::encode(*message) == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = mx::fuzz::as_text(data, size);
    check(bytes, mx::decode_request(bytes));
    check(bytes, mx::decode_result(bytes));
    check(bytes, mx::decode_opened(bytes));
    return 0;
}
