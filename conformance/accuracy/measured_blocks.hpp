// What quantizing loses, row by row: each kind of data in each format and dialect, beside the first
// dialect of its format, and a device's codes beside the oracle's. Used by mxcheck accuracy; prints
// nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/accuracy/accuracy.hpp"
#include "conformance/accuracy/request.hpp"
#include "conformance/results/attachments.hpp"

namespace mx::accuracy {

inline constexpr std::string_view oracle = "oracle";

struct NamedValues {
    std::string name;
    std::vector<float> values;
    std::int64_t columns = 0;
};

// What row another is laid beside, and how many codes differ.
struct Beside {
    std::string dialect, rounding, source;
    Changes changes;
};

struct MeasuredBlocks {
    std::string data, format, dialect, rounding;
    std::string source;  // `oracle`, or a device
    std::size_t blocks = 0;
    Accuracy accuracy;
    std::optional<Beside> beside;
    std::string reason;  // why there is none of it, "" where there is
};

// Each format in each of its dialects, and where wanted once more with stochastic rounding.
Expected<std::vector<Quantization>> quantizers_of(const AccuracyRequest& request);

// The tensors of a file, or named data.
Expected<std::vector<NamedValues>> samples_of(const AccuracyRequest& request);

// `subject` may be nullptr. As error: what the device did but to say that it does not support this.
Expected<std::vector<MeasuredBlocks>> measure_blocks(const std::vector<NamedValues>& samples,
                                                     const std::vector<Quantization>& quantizers,
                                                     const NamedClient* subject);

// Of the device's rows: elements, and codes that are not the oracle's.
Judged judged(const std::vector<MeasuredBlocks>& all);

results::QuantizeAccuracy record_of(const MeasuredBlocks& measured);

}  // namespace mx::accuracy
