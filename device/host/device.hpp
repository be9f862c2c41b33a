// A device opened inside this process: the C table behind C++ types, every answer checked.
// Used by the child process of a client's device, by benchmarks and by sweeps on a GPU, and by
// properties and targets of fuzz. A device that crashes takes this process along: a
// harness that must survive takes a Client.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/abi/mx_device.h"
#include "device/abi/mx_device_clock.h"
#include "device/host/device_source.hpp"
#include "device/host/operation.hpp"
#include "device/host/shared_library.hpp"
#include "reference/base/status.hpp"

namespace mx {

// What a device tells about itself, in its order: {"name", "..."}, {"driver", "..."}, ...
using Facts = std::vector<std::pair<std::string, std::string>>;

// The answer to one call and the sentence that came with it, printable, "" if none. A status
// outside mx_status, a thrown exception and a message buffer overrun are MX_FAILED with a sentence.
struct CallResult {
    mx_status status = MX_OK;
    std::string message = {};
};

// "MX_OUT_OF_MEMORY"
std::string name_of(mx_status status);

struct TensorSpecs {
    std::vector<TensorSpec> inputs = {};
    std::vector<TensorSpec> outputs = {};
};

// `data` points at byte_extent(spec) bytes that outlive the call; never NULL.
struct TensorBuffer {
    TensorSpec spec = {};
    void* data = nullptr;
    const char* place = "host";
};

struct TensorBuffers {
    std::vector<TensorBuffer> inputs = {};
    std::vector<TensorBuffer> outputs = {};
};

// One open device; closes it when destroyed. Calls must come from one thread at a time.
class Device {
public:
    static Expected<Device> open(const DeviceSource& source);

    const Facts& facts() const { return facts_; }
    // Its own clock; nullptr where it has none.
    mx_device_last_seconds_function clock() const;
    CallResult supports(const Operation& operation, const TensorSpecs& tensors);
    CallResult run(const Operation& operation, const TensorBuffers& tensors);
    // The ways the device has to do a GEMM; {""}, its own choice, where it names none.
    Expected<std::vector<std::string>> algorithms(const Operation& operation,
                                                  const TensorSpecs& tensors);

private:
    // The open handle and what closes it. The handle may be NULL: the ABI allows it, so a
    // unique_ptr of the handle itself would not close such a device.
    struct OpenHandle {
        const mx_device_api* api = nullptr;
        void* handle = nullptr;
    };
    struct Close {
        void operator()(OpenHandle* open) const;
    };

    Device() = default;
    Status load(const DeviceSource& source);
    Status start(const DeviceSource& source);
    Status describe(const DeviceSource& source);

    // Destroyed from the last to the first: the device closes before its code is unloaded.
    std::optional<SharedLibrary> library_;
    const mx_device_api* api_ = nullptr;
    std::unique_ptr<OpenHandle, Close> open_;
    Facts facts_;
};

}  // namespace mx
