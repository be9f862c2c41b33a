// The keys of a field, which the records of runs and of benchmarks share.
#pragma once

#include "conformance/results/record.hpp"
#include "reference/base/json_record.hpp"

namespace mx::results {

template <typename Archive, json::Either<Field> Given>
void describe(Archive& archive, Given& field) {
    archive("key", field.key);
    archive("value", field.value);
}

}  // namespace mx::results
