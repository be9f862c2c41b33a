// The judge of a search: asks a device in a process of its own and holds its answer against the
// oracle, as a run does. Used by the workers of a search.
#pragma once

#include <optional>

#include "conformance/run/evidence.hpp"
#include "device/host/client.hpp"
#include "fuzz/search/judge.hpp"

namespace mx::fuzz {

class DeviceJudge : public Judge {
public:
    explicit DeviceJudge(Client client) : client_(std::move(client)) {}

    bool supports(const Case& c) override;
    Judgement judge(const Case& c, const std::vector<CodeTensor>& inputs) override;
    void restart() override { client_.restart(); }

private:
    Client client_;
    // What the device did instead of saying whether it supports the case that is judged next.
    std::optional<DeviceAnswer> failure_;
};

}  // namespace mx::fuzz
