// The groups of a grouped GEMM: which rows of A and D each one has, and where its scales lie. What
// an operation with batches has as equal parts is the same with equal groups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/kit/call.hpp"

namespace mx::kit {

// Where each group begins in the rows, and where the last one ends.
class RowGroups {
public:
    static constexpr std::string_view role = "the row offsets";

    RowGroups() = default;

    // Of `batches` batches of `rows` rows.
    static RowGroups equal(std::int64_t batches, std::int64_t rows) {
        RowGroups groups;
        for (std::int64_t batch = 0; batch < batches; ++batch)
            groups.offsets_.push_back(groups.end() + rows);
        return groups;
    }

    // The last input of a grouped GEMM whose A has so many rows; it is still to be taken. Without
    // data nobody knows how many rows each group has: then all are in the first.
    static RowGroups read(const Call& call, std::int64_t rows) {
        const std::int64_t count = call.maybe_grouped_gemm().groups;
        const Strided given = call.last_input(role).implied("i32", {1, count + 1});
        RowGroups groups;
        for (std::int64_t group = 1; group <= count; ++group)
            groups.offsets_.push_back(call.has_data() ? number(given, group) : rows);
        if (call.has_data()) groups.check(number(given, 0), rows);
        return groups;
    }

    std::int64_t count() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
    // Of a group; `first(count())` is the end of the last one.
    std::int64_t first(std::int64_t group) const {
        return offsets_[static_cast<std::size_t>(group)];
    }
    std::int64_t rows(std::int64_t group) const { return first(group + 1) - first(group); }
    std::int64_t end() const { return offsets_.back(); }

    // The group that has a row before the end; of groups without rows that begin there none.
    std::int64_t of_row(std::int64_t row) const {
        return std::upper_bound(offsets_.begin(), offsets_.end(), row) - offsets_.begin() - 1;
    }

    // The same groups where each begins a tile of so many rows.
    RowGroups in_tiles(std::int64_t unit) const {
        RowGroups tiles;
        for (std::int64_t group = 0; group < count(); ++group)
            tiles.offsets_.push_back(tiles.end() + (rows(group) + unit - 1) / unit * unit);
        return tiles;
    }

private:
    static std::int64_t number(const Strided& offsets, std::int64_t group) {
        return static_cast<std::int32_t>(offsets.read({0, group}));
    }

    void check(std::int64_t first, std::int64_t rows) const {
        if (first != 0) invalid("the first row offset is " + std::to_string(first));
        if (!std::is_sorted(offsets_.begin(), offsets_.end()) || end() > rows)
            invalid("the row offsets do not rise from 0 to at most " + std::to_string(rows));
    }

    std::vector<std::int64_t> offsets_{0};
};

}  // namespace mx::kit
