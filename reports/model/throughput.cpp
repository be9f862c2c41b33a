// See throughput.hpp.
#include "reports/model/throughput.hpp"

#include <algorithm>
#include <array>

namespace mx::reports {
namespace {

using results::Bench;
using results::BenchRow;
using results::Field;

constexpr double floor_min = 0.005;

const BenchRow* find(const Bench& bench, const BenchRow& wanted) {
    for (const BenchRow& row : bench.rows)
        if (row.name() == wanted.name() && row.reason.empty()) return &row;
    return nullptr;
}

double floor_of(const Bench& bench) {
    std::vector<double> noises;
    for (const BenchRow& row : bench.rows)
        if (row.reason.empty()) noises.push_back(row.noise());
    if (noises.empty()) return floor_min;
    std::sort(noises.begin(), noises.end());
    return std::max(floor_min, noises[noises.size() / 2]);
}

bool spreads_meet(const BenchRow& first, const BenchRow& second) {
    return first.low <= second.high && second.low <= first.high;
}

bool is_roof(const BenchRow& row) {
    return row.what == "copy" || row.what == "plain gemm";
}

double distance(double ratio) {
    return std::max(ratio, 1 / ratio) - 1;
}

// What moves a roof is the machine, no device.
Speed speed_of(const SpeedRow& row) {
    const double farther = distance(row.ratio);
    if (farther <= row.floor) return Speed::same;
    const bool is_near = farther <= 2 * row.floor || spreads_meet(*row.first, *row.second);
    if (is_near || is_roof(*row.first)) return Speed::uncertain;
    return row.ratio < 1 ? Speed::faster : Speed::slower;
}

// A roof runs the same code in both: on one machine, what it moved by is noise of the rows of its
// shape.
void raise_floors(std::vector<SpeedRow>& rows) {
    for (SpeedRow& row : rows) {
        if (is_roof(*row.first)) continue;
        const std::string_view roof = row.first->what == "gemm" ? "plain gemm" : "copy";
        for (const SpeedRow& other : rows)
            if (other.first->what == roof && other.first->shape == row.first->shape)
                row.floor = std::max(row.floor, distance(other.ratio));
    }
}

void add_difference(const char* what, const std::string& first, const std::string& second,
                    std::vector<std::string>& differences) {
    if (first != second)
        differences.push_back(std::string(what) + ": \"" + first + "\" and \"" + second + "\"");
}

void add_differences(const std::vector<Field>& first, const std::vector<Field>& second,
                     std::vector<std::string>& differences) {
    for (const Field& field : first) {
        const auto other = std::find_if(second.begin(), second.end(),
                                        [&](const Field& each) { return each.key == field.key; });
        add_difference(field.key.c_str(), field.value,
                       other == second.end() ? "unknown" : other->value, differences);
    }
}

}  // namespace

std::string_view name_of(Speed speed) {
    constexpr std::array<std::string_view, 4> names{"SAME", "FASTER", "SLOWER", "UNCERTAIN"};
    return names.at(static_cast<std::size_t>(speed));
}

Expected<SpeedComparison> compare(const Bench& first, const Bench& second) {
    SpeedComparison comparison;
    std::vector<std::string> contradictions;
    add_difference("data", first.header.data, second.header.data, contradictions);
    add_difference("place of the tensors", first.header.place, second.header.place, contradictions);
    add_difference("clock", first.header.clock, second.header.clock, contradictions);
    if (!contradictions.empty())
        return bad_input("the two do not measure the same thing; " + contradictions.front());
    add_difference("device", first.header.device, second.header.device, comparison.differences);
    add_difference("mxcheck", first.header.program_version + " " + first.header.commit,
                   second.header.program_version + " " + second.header.commit,
                   comparison.differences);
    const std::size_t of_programs = comparison.differences.size();
    add_differences(first.header.device_facts, second.header.device_facts, comparison.differences);
    add_differences(first.header.environment, second.header.environment, comparison.differences);
    const bool is_one_machine = comparison.differences.size() == of_programs;
    comparison.floor = std::max(floor_of(first), floor_of(second));
    for (const BenchRow& row : first.rows) {
        if (!row.reason.empty()) continue;
        const BenchRow* other = find(second, row);
        if (other == nullptr) {
            comparison.only_first.push_back(row.name());
            continue;
        }
        SpeedRow pair{&row, other, other->seconds / row.seconds, comparison.floor, Speed::same};
        pair.floor = std::max({pair.floor, row.noise(), other->noise()});
        comparison.rows.push_back(pair);
    }
    if (is_one_machine) raise_floors(comparison.rows);
    for (SpeedRow& row : comparison.rows) row.speed = speed_of(row);
    for (const BenchRow& row : second.rows)
        if (row.reason.empty() && find(first, row) == nullptr)
            comparison.only_second.push_back(row.name());
    return comparison;
}

}  // namespace mx::reports
