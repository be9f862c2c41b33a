// See edge_cases.hpp.
#include "conformance/library/edge_cases.hpp"

#include <algorithm>

#include "conformance/case/names.hpp"
#include "conformance/data/family.hpp"
#include "conformance/data/inputs.hpp"

namespace mx::library {
namespace {

constexpr std::string_view edge_prefix = "edge.";

std::vector<std::string> edge_families() {
    std::vector<std::string> names;
    for (const Family& family : families())
        if (family.name.starts_with(edge_prefix)) names.emplace_back(family.name);
    return names;
}

// One whole block, which says how long those of a family are.
Expected<Case> case_of_one_block(const EdgeRequest& request) {
    CaseWords words;
    words.operation = name_of(OperationKind::quantize);
    words.format = request.format;
    words.dialect = request.dialect;
    words.type = request.type;
    auto made = case_of(words);
    if (!made) return made.error();
    Case c = std::move(made).value();
    const bool is_line = c.format->block_rows <= 1;
    c.rows = is_line ? 1 : c.format->block_rows;
    c.columns = c.format->is_whole_tensor() ? block_size : c.format->block_columns;
    if (const Status fits = check_combination(c); !fits) return fits.error();
    if (const std::string unknown = unknown_scale(c); !unknown.empty()) return bad_input(unknown);
    return c;
}

}  // namespace

Expected<EdgeBlocks> edge_blocks(const EdgeRequest& request) {
    const std::vector<std::string> all = edge_families();
    if (!request.family.empty())
        if (const Status known = check_name("family", request.family, all); !known)
            return known.error();
    auto made = case_of_one_block(request);
    if (!made) return made.error();
    Case c = std::move(made).value();
    EdgeBlocks blocks{c.type, 0, c.rows * c.columns, {}};
    Sources sources;
    for (const std::string& family : all) {
        if (!request.family.empty() && family != request.family) continue;
        c.data = family;
        const auto source = sources.open(c);
        if (!source) return source.error();
        const BlockSource& blocks_of_family = *source.value();
        for (std::uint64_t index = 0; index < blocks_of_family.size(); ++index) {
            std::vector<std::uint32_t> lanes = blocks_of_family.block(index).lanes;
            lanes.resize(static_cast<std::size_t>(blocks.columns));
            blocks.codes.insert(blocks.codes.end(), lanes.begin(), lanes.end());
            ++blocks.rows;
        }
    }
    return blocks;
}

}  // namespace mx::library
