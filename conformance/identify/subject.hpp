// The black box: blocks of inputs in, scale and element codes out. It counts what it asked.
// Used by identify.cpp; knows no dialect.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/host/client.hpp"
#include "reference/base/status.hpp"
#include "reference/spec/formats.hpp"

namespace mx::identify {

inline constexpr std::size_t lane_count = 32;
using Lanes = std::array<std::uint32_t, lane_count>;

struct Answer {
    Lanes lanes{};  // what was asked
    Code scale;
    std::array<std::uint8_t, lane_count> elements{};
};

// What is asked for. The name of a dialect crosses to the device and means nothing here.
struct Setting {
    BlockFormat format;
    ElementFormat input;
    std::string dialect;
};

class Subject {
public:
    Subject(Client client, Setting setting)
        : client_(std::move(client)), setting_(std::move(setting)) {}

    const Setting& setting() const { return setting_; }
    std::uint64_t blocks_asked() const { return blocks_asked_; }

    // One block a row. The error is a sentence about the device: bad_input if it does not do this,
    // device if it is at fault.
    Expected<std::vector<Answer>> quantize(std::span<const Lanes> blocks);

    // The elements of a row of `count` lanes, in how many blocks it may take: the codes and scales
    // of the last, partial block are what is of interest. Empty if the device does not do that.
    Expected<std::vector<Answer>> quantize_partial(const Lanes& block, std::size_t count);

    // Does the device take block scales in this layout?
    bool takes_scale_layout(const std::string& layout);

private:
    Question question_of(std::int64_t rows, std::int64_t columns) const;

    Client client_;
    Setting setting_;
    std::uint64_t blocks_asked_ = 0;
};

}  // namespace mx::identify
