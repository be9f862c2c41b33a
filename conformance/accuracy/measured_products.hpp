// What accumulators lose, row by row: products of named data in each format, output and depth, by
// models and by a device, against the exact product. Used by mxcheck accuracy --op gemm; prints
// nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/accuracy/gemm_accuracy.hpp"
#include "conformance/accuracy/request.hpp"
#include "conformance/results/attachments.hpp"

namespace mx::accuracy {

struct MeasuredProduct {
    std::string data, dialect;
    std::string source;  // "model", or a device
    std::string name;    // of the model or the device's algorithm
    std::string bound_of;
    Case c;
    GemmAccuracy accuracy;
    double quantizing_db = 0;
    std::string reason;  // why there is none of it

    bool is_model() const { return source == "model"; }
    bool has_bounds() const;
    double noise_db() const;
};

// The request with the formats and data that are usual where it names none; as error a name that no
// table has.
Expected<AccuracyRequest> completed(AccuracyRequest request);

struct MeasuredProducts {
    std::vector<MeasuredProduct> all;
    // Rows that the factors do not go with are left out; why, of the first.
    std::string refusal;
};
// `subject` may be nullptr. As error: what the device did but to say that it does not support this.
Expected<MeasuredProducts> measure_products(const AccuracyRequest& request,
                                            const NamedClient* subject);

// With a device its outputs alone, for only it can be wrong: those that have a bound, and those
// beyond it. Else all of them.
enum class Whose { models, device };
Judged judged(const std::vector<MeasuredProduct>& all, Whose whose);

results::GemmAccuracy record_of(const MeasuredProduct& measured);

}  // namespace mx::accuracy
