// A judge with a defect that the test chooses, and no device: what the search and the shrinker are
// held to.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "fuzz/search/judge.hpp"
#include "reference/problem/problem.hpp"

namespace mx::fuzz {

// One row of f32 to E4M3, or another format.
inline Case row_of(std::int64_t columns, const std::string& format = "mxfp8-e4m3") {
    const auto c = parse_case("quantize format=" + format + " shape=1x" + std::to_string(columns) +
                              " data=bits:0");
    return c.value();
}

// The element that is wrong, if any.
using Defect = std::function<std::optional<std::size_t>(const Case&, const CodeTensor& values)>;

class PlantedJudge : public Judge {
public:
    explicit PlantedJudge(Defect defect) : defect_(std::move(defect)) {}

    bool supports(const Case& c) override { return c.operation == OperationKind::quantize; }
    Judgement judge(const Case& c, const std::vector<CodeTensor>& inputs) override {
        ++calls;
        const auto wrong = defect_(c, inputs[0]);
        if (!wrong) return {};
        results::Mismatch m;
        m.mismatch_class = "tie";
        m.direction = "+1 code";
        m.input_bits = "0x0";
        const Case side = along(c, axes_of(c).back());
        if (side.axis != c.axis) m.axis = name_of(side.axis);
        m.block = static_cast<std::uint64_t>(lane_of(blocking_of(side), *wrong).block);
        return {Outcome::wrong, "", {m}};
    }
    void restart() override { ++restarts; }

    std::uint64_t calls = 0, restarts = 0;

private:
    Defect defect_;
};

// Wrong wherever this code is.
inline Defect on_code(std::uint32_t code) {
    return [code](const Case&, const CodeTensor& values) -> std::optional<std::size_t> {
        for (std::size_t i = 0; i < values.count(); ++i)
            if (values.at(i) == code) return i;
        return std::nullopt;
    };
}

inline Defect never() {
    return [](const Case&, const CodeTensor&) { return std::nullopt; };
}

}  // namespace mx::fuzz
