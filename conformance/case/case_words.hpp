// From the words of a case to the rows and enumerators that they name. Used by the grammar alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.hpp"
#include "conformance/case/names.hpp"

namespace mx {

Expected<OperationKind> operation_named(const std::string& name);

// tensor= where quantize is to find the number itself.
inline constexpr std::string_view derived_number = "derived";

// Looks names up one after the other and keeps the sentence of the first that no table has.
class WordReader {
public:
    // `found` is what the name stands for, nullptr where it stands for nothing. `names` are those
    // it might have been.
    template <typename Row>
    const Row* take(std::string_view kind, std::string_view name, const Row* found,
                    std::vector<std::string> (*names)()) {
        if (status_ && found == nullptr) status_ = check_name(kind, name, names());
        return found;
    }
    // The same of a table of names and values.
    template <typename Table, typename Value>
    void take_value(std::string_view kind, std::string_view name, const Table& table, Value& value,
                    std::vector<std::string> (*names)()) {
        if (const auto* row = take(kind, name, find_named(table, name), names)) value = row->second;
    }
    void note(const Status& status) {
        if (status_) status_ = status;
    }
    const Status& status() const { return status_; }

private:
    Status status_ = success();
};

// Rows, layout and packing, which every operation may have.
void take_storage(WordReader& reader, const CaseWords& words, Problem& p);

// Of operation gemm.
Expected<Case> gemm_case_of(const CaseWords& words);

}  // namespace mx
