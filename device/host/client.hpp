// Who answers questions, as those see it who ask: a device in a process of its own, recorded
// answers, or what a test makes up. And what an answer is worth, said once for all who ask: run's
// own judgement aside, which counts every element, nobody reads an answer before it has been
// through here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/host/device.hpp"
#include "device/host/device_source.hpp"
#include "device/host/question.hpp"
#include "reference/base/status.hpp"

namespace mx {

// Who makes the tensors of a call where the device has them, and looks at them there: for those
// that are too large to be held twice.
struct CallInPlace {
    using Buffers = std::span<const std::span<std::byte>>;
    // Before the first run.
    std::function<void(Buffers inputs)> fill;
    // After each of the two runs, with what every byte of the outputs held before it.
    std::function<void(Buffers inputs, Buffers outputs, std::byte poison)> look;
};

// Copies ask the same device. What is not given is that of one who has nothing to say there.
struct Client {
    std::function<DeviceAnswer(const Question&)> ask;
    // What a device says that does not support the question, or that fails over it; nothing if it
    // supports it. Reads shapes alone: the question needs no data.
    std::function<std::optional<DeviceAnswer>(const Question&)> refuses = [](const Question&) {
        return std::optional<DeviceAnswer>();
    };
    // Names for the ways it has to do a GEMM of these shapes; {""} where it has one.
    std::function<Expected<std::vector<std::string>>(const Question&)> algorithms =
        [](const Question&) { return Expected(std::vector<std::string>{""}); };
    // The device forgets what it was asked: it is opened anew for the next question.
    std::function<void()> restart = [] {};
    // After the last question: the error says how the device's process ended instead.
    std::function<Status()> close = [] { return success(); };
    Facts facts = {};
    // The same as `ask` of a question without data, whose outputs have no gaps: what they hold is
    // told to `look` alone, and findings know nothing of what an input holds.
    std::function<DeviceAnswer(const Question&, const CallInPlace&)> ask_in_place =
        [](const Question&, const CallInPlace&) {
            return DeviceAnswer{.kind = AnswerKind::host_error,
                                .reason = "it is asked in place, which needs a device at hand"};
        };
};

// What the tensors of a question take in a call.
Expected<std::size_t> bytes_of_call(const Question& question);

// Opens the device in a process of its own, which is closed in silence with the last copy of the
// client. A crash or a timeout is the answer to the question that brought it about; the next one
// opens the device anew. When that fails three times in a row, this and all later answers say so,
// until a restart. The process is forked, so open early in a program with threads or with a lot of
// memory, and keep the thread that opened or asked: the process ends together with it.
Expected<Client> open_client(const DeviceSource& source, const Limits& limits = {});

// How a client is opened by those who need one in each of their processes.
using Opener = std::function<Expected<Client>()>;

// Of an answer that holds no outputs: bad_input where the device does not do this, system where the
// host could not ask, device where it crashed, hung or failed.
Error refusal_of(const DeviceAnswer& answer);

// What one call that did not end with MX_OK is as an answer: "run answered MX_FAILED: too hot".
DeviceAnswer answer_of(const CallResult& result, std::string_view phase);

// A device's own words, or that there are none.
std::string reason_of(const std::string& message);

// What no answer may do, whatever its bits: "it left elements unwritten". "" where it did nothing
// of the kind. Pads of a layout that is not strided may stay as they were, and rows of no group.
std::string fault_of(const DeviceAnswer& answer, const Question& question);

// The same of its parts: what lies beside the tensors, and the flags of elements, see question.hpp.
std::string fault_of(const Findings& findings);
std::string fault_of(std::span<const std::uint8_t> flags);

// The outputs; as error a refusal or a fault.
Expected<std::vector<OutputTensor>> outputs_of(DeviceAnswer answer, const Question& question);

}  // namespace mx
