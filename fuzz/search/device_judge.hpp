// The judge of a search: asks a device in a process of its own and holds its answer against the
// oracle, as a run does. Used by the workers of a search.
#pragma once

#include <optional>

#include "conformance/run/evidence.hpp"
#include "device/host/isolated_device.hpp"
#include "fuzz/search/judge.hpp"

namespace mx::fuzz {

class DeviceJudge : public Judge {
public:
    DeviceJudge(DeviceSource source, const Limits& limits, IsolatedDevice device)
        : source_(std::move(source)), limits_(limits), device_(std::move(device)) {}

    bool supports(const Case& c) override;
    Judgement judge(const Case& c, const std::vector<CodeTensor>& inputs) override;
    void restart() override;

private:
    DeviceSource source_;
    Limits limits_;
    std::optional<IsolatedDevice> device_;  // none after it could not be opened anew
};

}  // namespace mx::fuzz
