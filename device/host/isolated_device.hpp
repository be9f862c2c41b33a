// A device in a process of its own: whatever it does, this program gets an answer.
// Used by open_client alone. Loads no plug-in into this process; judges no bits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/host/call_buffers.hpp"
#include "device/host/child_process.hpp"
#include "device/host/client.hpp"
#include "device/host/device.hpp"
#include "device/host/device_source.hpp"
#include "device/host/protocol.hpp"
#include "device/host/question.hpp"
#include "device/host/shared_memory.hpp"
#include "reference/base/status.hpp"

namespace mx {

// The process is forked, so start early in a program with threads or with a lot of memory, and
// keep the thread that started or restarted it: the process ends together with that thread.
class IsolatedDevice {
public:
    // Opens the device. Device errors say what is wrong with it; a missing file is bad input.
    static Expected<IsolatedDevice> start(const DeviceSource& source, const Limits& limits = {});

    // As told by the process that opened last.
    const Facts& facts() const { return facts_; }

    // Asks supports, then runs twice with outputs poisoned differently, watching the memory round
    // every tensor. After a crash or timeout the next call opens the device anew; when that fails
    // three times in a row, this and all later answers are device_error.
    DeviceAnswer ask(const Question& question);

    // The same with tensors that `call` makes and looks at where they lie. See client.hpp.
    DeviceAnswer ask_in_place(const Question& question, const CallInPlace& call);

    // What a device says that does not support the question, or that fails over it; nothing if it
    // supports it. Reads shapes alone: the question needs no data.
    std::optional<DeviceAnswer> refuses(const Question& question);

    // The ways the device has to do a GEMM of these shapes; {""}, its own choice, where it names
    // none. As error: why it does not say.
    Expected<std::vector<std::string>> algorithms(const Question& question);

    // The device forgets what it was asked: the next call opens it anew, also where that had failed
    // too often.
    void restart();

    // Closes the device and says how its process ended. The destructor does it silently.
    Status close();

private:
    IsolatedDevice(const DeviceSource& source, const Limits& limits, SharedMemory memory)
        : source_(source), limits_(limits), memory_(std::move(memory)) {}

    Status open();
    std::optional<DeviceAnswer> ensure_open();
    DeviceAnswer call_in_place(const Request& request, CallBuffers& buffers,
                               const CallInPlace& call);
    DeviceAnswer ask_open_device(const Question& question, const Placement& placement);
    // No failure when the device answered MX_OK, otherwise what the question's answer is.
    struct Called {
        std::optional<DeviceAnswer> failure;
        std::string message = {};
    };
    Called call(const Request& request, const std::string& phase);
    std::optional<DeviceAnswer> judge(const CallResult& result, const Request& request,
                                      const std::string& phase);

    DeviceSource source_;
    Limits limits_;
    SharedMemory memory_;
    std::optional<ChildProcess> child_;
    Facts facts_;
    std::string given_up_;  // why it is not opened any more, "" while it is
};

}  // namespace mx
