// See interval_table.hpp.
#include "reference/proof/interval_table.hpp"

#include <algorithm>

#include "reference/exact/round.hpp"
#include "reference/proof/sweep.hpp"
#include "reference/proof/vectors.hpp"

namespace mx::proof {
namespace {

// True if any byte is another one. Without a way out of the loop, so that it runs at the speed of
// memory; what differs is counted afterwards.
MX_WIDEST_VECTORS bool any_differs(std::span<const std::uint8_t> codes, std::uint8_t expected) {
    std::uint8_t different = 0;
    for (std::size_t i = 0; i < codes.size(); ++i)
        different = static_cast<std::uint8_t>(different | (codes[i] ^ expected));
    return different != 0;
}

std::uint64_t differences(std::span<const std::uint8_t> codes, std::uint8_t expected) {
    if (!any_differs(codes, expected)) return 0;
    return codes.size() -
           static_cast<std::uint64_t>(std::count(codes.begin(), codes.end(), expected));
}

}  // namespace

std::vector<exact::Run> interval_table(const TableOf& c) {
    MX_ASSERT_COMPARE(c.format.code_bits(), <=, 8);
    return runs_of_codes(c.input, [&c](std::uint32_t bits) {
        const exact::Value value = exact::read_input(c.rules.subnormals, c.input, Code{bits});
        return exact::round_element(c.rules, c.format, value, c.random).bits;
    });
}

std::uint64_t count_differences(std::span<const exact::Run> table, const StoredCodes& stored) {
    const auto ends_before = [](const exact::Run& run, std::uint64_t code) {
        return run.last < code;
    };
    auto run = std::lower_bound(table.begin(), table.end(), stored.first, ends_before);
    std::uint64_t wrong = 0;
    for (std::size_t done = 0; done < stored.codes.size(); ++run) {
        MX_ASSERT(run != table.end());
        const std::uint64_t left_in_run = run->last - (stored.first + done) + 1;
        const std::size_t count = std::min<std::uint64_t>(left_in_run, stored.codes.size() - done);
        wrong +=
            differences(stored.codes.subspan(done, count), static_cast<std::uint8_t>(run->result));
        done += count;
    }
    return wrong;
}

}  // namespace mx::proof
