// See oracle_device.hpp.
#include "conformance/selftest/oracle_device.hpp"

#include <array>

#include "conformance/library/mx_oracle.h"
#include "device/kit/plugin.hpp"

namespace mx::selftest {
namespace {

class Oracle {
public:
    static std::span<const mx_fact> facts() {
        static constexpr std::array known{
            mx_fact{"name", "oracle"}, mx_fact{"vendor", "mxcheck"},
            mx_fact{"notes", "the oracle's C library as a device, to test the harness with"}};
        return known;
    }
    static void supports(const kit::Arguments& call) { forward(mx_oracle_supports, call); }
    static void run(const kit::Arguments& call) { forward(mx_oracle_run, call); }

private:
    // Sums are exact.
    static void forward(decltype(mx_oracle_run) function, const kit::Arguments& call) {
        std::array<char, 1000> text{};
        mx_message message{sizeof message, text.data(), text.size()};
        const mx_status status = function(call.operation, call.inputs, call.input_count,
                                          call.outputs, call.output_count, nullptr, &message);
        if (status != MX_OK) throw kit::Refusal{status, text.data()};
    }
};

}  // namespace

const mx_device_api* oracle_device_api() {
    return &kit::Plugin<Oracle>::table;
}

}  // namespace mx::selftest
