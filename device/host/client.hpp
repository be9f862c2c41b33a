// Who answers questions, as those see it who ask: a device in a process of its own, or what a test
// makes up. And what an answer is worth, said once for all who ask: run's own judgement aside,
// which counts every element, nobody reads an answer before it has been through here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device/host/isolated_device.hpp"
#include "device/host/question.hpp"
#include "reference/base/status.hpp"

namespace mx {

struct Client {
    std::function<DeviceAnswer(const Question&)> ask;
    // Names for the ways it has to do a GEMM; {""} where it has one.
    std::function<Expected<std::vector<std::string>>(const Question&)> algorithms =
        [](const Question&) { return Expected(std::vector<std::string>{""}); };
};

// The device must outlive its client.
Client client_of(IsolatedDevice& device);

// Of an answer that holds no outputs: bad_input where the device does not do this, system where the
// host could not ask, device where it crashed, hung or failed.
Error refusal_of(const DeviceAnswer& answer);

// What no answer may do, whatever its bits: "it left elements unwritten". "" where it did nothing
// of the kind. Pads of a layout that is not strided may stay as they were.
std::string fault_of(const DeviceAnswer& answer, const Question& question);

// The outputs; as error a refusal or a fault.
Expected<std::vector<OutputTensor>> outputs_of(DeviceAnswer answer, const Question& question);

}  // namespace mx
