// See wall.hpp.
#include "reports/model/wall.hpp"

#include <algorithm>
#include <set>

#include "reference/base/text.hpp"

namespace mx::reports {

using results::WallRecord;
using results::WallRow;

constexpr std::string_view equal = "equal";
constexpr std::string_view equal_but = "equal but for open decisions";
constexpr std::string_view differs = "differs";

std::string_view word_of(const WallRow& row) {
    if (row.verdict == "pass_exact" || row.verdict == "pass_bounded") return equal;
    if (row.verdict == "deviation") return equal_but;
    if (row.verdict == "fail") return differs;
    return row.verdict == "not_supported" ? "not asked" : "no verdict";
}

std::string decisions_of(const WallRow& row) {
    constexpr std::string_view opening = "the source leaves open: ";
    std::set<std::string> names;
    for (const std::string& text : row.deviations) {
        std::string_view rest = text;
        if (rest.starts_with(opening)) rest.remove_prefix(opening.size());
        while (!rest.empty()) {
            const auto end = rest.find(", ");
            names.emplace(rest.substr(0, end));
            rest = end == rest.npos ? "" : rest.substr(end + 2);
        }
    }
    return joined({names.begin(), names.end()}, ", ");
}

std::string version_of(const WallRecord& record) {
    const bool both = !record.version.empty() && !record.source.empty();
    return record.version + (both ? ", " : "") + record.source;
}

std::uint64_t bytes_of(const WallRecord& record) {
    std::uint64_t bytes = 0;
    for (const WallRow& row : record.rows) bytes += row.bytes;
    return bytes;
}

std::string verdicts_of(const WallRecord& record) {
    std::vector<std::string> parts;
    for (const std::string_view word : {equal, equal_but, differs}) {
        const auto count = std::ranges::count_if(
            record.rows, [word](const WallRow& row) { return word_of(row) == word; });
        if (count != 0)
            parts.push_back(grouped(static_cast<std::uint64_t>(count)) + " " + std::string(word));
    }
    return joined(parts, ", ");
}

std::vector<std::string> cells_of(const WallRow& row) {
    const auto differ = [](std::uint64_t some, std::uint64_t all) {
        return all == 0 ? std::string("-") : grouped(some) + " of " + grouped(all);
    };
    return {row.operation,
            row.format,
            row.dialect,
            decisions_of(row),
            joined(row.inputs, ", "),
            joined(row.axes, ", "),
            grouped(row.bytes),
            differ(row.elements_differ, row.elements),
            differ(row.scales_differ, row.scales)};
}

std::vector<std::string> cells_of(const WallRecord& record) {
    return {record.library, record.vendor,       version_of(record),        record.place,
            record.date,    verdicts_of(record), grouped(bytes_of(record)), record.run_again};
}

std::string sentence_of(const Wall& wall) {
    std::uint64_t bytes = 0, rows = 0, differing = 0;
    for (const WallRecord& record : wall.records) {
        bytes += bytes_of(record);
        for (const WallRow& row : record.rows) {
            if (row.verdict == "not_supported") continue;
            ++rows;
            differing += word_of(row) == differs ? 1 : 0;
        }
    }
    return counted(wall.records.size(), "peer") + ", " + grouped(bytes) + " bytes compared. Of " +
           grouped(rows) +
           " combinations of operation, format and dialect, or factors and model, " +
           grouped(differing) + " differ; " + counted(wall.findings.size(), "finding") + ".";
}

}  // namespace mx::reports
