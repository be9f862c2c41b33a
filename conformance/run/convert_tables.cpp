// See convert_tables.hpp.
#include "conformance/run/convert_tables.hpp"

#include "reference/problem/problem.hpp"
#include "reference/proof/exact_runs.hpp"
#include "reference/proof/interval_table.hpp"

namespace mx {
namespace {

// The table costs some ten thousand roundings of the exact oracle.
constexpr std::uint64_t worth_a_table = std::uint64_t{1} << 20;

std::uint64_t count_of(const Case& c) {
    return static_cast<std::uint64_t>(c.rows) * static_cast<std::uint64_t>(c.columns);
}

// The first input code of a case whose lanes are codes in order, each once.
std::uint64_t first_code(const Case& c) {
    return c.index * static_cast<std::uint64_t>(lanes_of(c));
}

// An amax has no sign.
bool counts_through_codes(const Case& c) {
    const int signs = c.operation == OperationKind::encode_scale ? 1 : 0;
    const std::uint64_t codes = std::uint64_t{1} << (c.type.code_bits() - signs);
    return c.data == "all.bits" && c.columns % lanes_of(c) == 0 && count_of(c) <= codes &&
           first_code(c) <= codes - count_of(c);
}

bool has_a_table(const Case& c) {
    const OperationKind kind = c.operation;
    const bool is_of_codes = kind == OperationKind::convert || kind == OperationKind::encode_scale;
    return is_of_codes && !casts_to_scale(c) && stochastic_form_of(c) == nullptr &&
           c.layout == RowLayout::dense && count_of(c) >= worth_a_table && counts_through_codes(c);
}

std::vector<exact::Run> runs_of(const Case& c) {
    if (c.operation == OperationKind::encode_scale)
        return proof::exact_scales(rules_of(c), *c.format, c.type);
    return proof::interval_table({rules_of(c), c.type, element_format_of(c)});
}

}  // namespace

const std::vector<exact::Run>& ConvertTables::table_of(const Case& c) {
    Case anywhere = c;
    anywhere.index = 0;
    anywhere.rows = anywhere.columns = 0;
    const auto [place, is_new] = tables_.try_emplace(print(anywhere));
    if (is_new) place->second = runs_of(c);
    return place->second;
}

std::uint64_t ConvertTables::right_codes(const Case& c, const DeviceAnswer& answer) {
    if (!has_a_table(c) || answer.outputs.size() != 1) return 0;
    const OutputTensor& output = answer.outputs[0];
    if (output.unwritten != 0 || output.differing != 0 || output.bytes.size() != count_of(c))
        return 0;
    const std::span codes{reinterpret_cast<const std::uint8_t*>(output.bytes.data()),
                          output.bytes.size()};
    const std::uint64_t wrong = proof::count_differences(table_of(c), {first_code(c), codes});
    return wrong == 0 ? count_of(c) : 0;
}

}  // namespace mx
