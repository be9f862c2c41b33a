// See store.hpp.
#include "fuzz/search/store.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "reference/base/files.hpp"
#include "reference/base/hex.hpp"
#include "reference/base/json_record.hpp"

namespace mx::fuzz {

// The state of a search as its file has it.
struct StoredTheme {
    std::string theme;
    bool refused = false;
    std::uint64_t blocks = 0;
    std::string reach, parted;
    std::vector<std::string> kept;
};
struct StoredFind {
    std::string kind, what;
    int outcome = 0, lanes_not_zero = 0;
    std::uint64_t calls = 0, seen = 0, round = 0;
    std::vector<std::string> cases;
};
struct StoredState {
    std::uint64_t version = 1;
    std::string scope;
    std::uint64_t worker = 0;
    Counts counts;
    std::vector<StoredTheme> themes;
    std::vector<StoredFind> finds;
};

template <typename Archive, json::Either<StoredTheme> Given>
void describe(Archive& archive, Given& theme) {
    archive("theme", theme.theme);
    archive("refused", theme.refused);
    archive("blocks", theme.blocks);
    archive("reach", theme.reach);
    archive("parted", theme.parted);
    archive("kept", theme.kept);
}
template <typename Archive, json::Either<StoredFind> Given>
void describe(Archive& archive, Given& find) {
    archive("kind", find.kind);
    archive("what", find.what);
    archive("outcome", find.outcome);
    archive("lanes_not_zero", find.lanes_not_zero);
    archive("calls", find.calls);
    archive("seen", find.seen);
    archive("round", find.round);
    archive("cases", find.cases);
}
template <typename Archive, json::Either<StoredState> Given>
void describe(Archive& archive, Given& state) {
    archive("mxcheck_fuzz", state.version);
    archive("scope", state.scope);
    archive("worker", state.worker);
    archive("rounds", state.counts.rounds);
    archive("blocks", state.counts.blocks);
    archive("calls", state.counts.calls);
    archive("refused", state.counts.refused);
    archive("deviations", state.counts.deviations);
    archive("themes", state.themes);
    archive("finds", state.finds);
}

namespace {

// "7f:3f800000,0,0": the scale, then the lanes.
std::string text_of(const BlockData& block) {
    std::string text = hex(block.scale) + ":";
    for (const std::uint32_t lane : block.lanes) text += hex(lane) + ",";
    return text;
}

BlockData block_of(const std::string& text) {
    BlockData block;
    const char* at = text.data();
    const char* const end = at + text.size();
    at = std::from_chars(at, end, block.scale, 16).ptr;
    while (at < end) {
        std::uint32_t lane = 0;
        const auto [next, error] = std::from_chars(++at, end, lane, 16);
        if (error != std::errc{}) break;
        block.lanes.push_back(lane);
        at = next;
    }
    return block;
}

StoredTheme stored(const Coverage& coverage) {
    StoredTheme theme{.theme = std::string(name_of_theme(coverage.theme)),
                      .refused = coverage.is_refused,
                      .blocks = coverage.blocks,
                      .reach = coverage.reach.to_string(),
                      .parted = {},
                      .kept = {}};
    for (const char is_parted : coverage.parted) theme.parted += is_parted != 0 ? '1' : '0';
    for (const BlockData& block : coverage.kept) theme.kept.push_back(text_of(block));
    return theme;
}

// Throws what std::bitset throws at a text that is none of its own.
void restore(const StoredTheme& theme, Coverage& coverage) {
    coverage.is_refused = theme.refused;
    coverage.blocks = theme.blocks;
    coverage.reach = Reach(theme.reach);
    const std::size_t known = std::min(theme.parted.size(), coverage.parted.size());
    for (std::size_t i = 0; i < known; ++i) coverage.parted[i] = theme.parted[i] == '1' ? 1 : 0;
    for (const std::string& text : theme.kept)
        if (BlockData block = block_of(text); !block.lanes.empty())
            coverage.kept.push_back(std::move(block));
}

StoredFind stored(const Found& found) {
    StoredFind find{.kind = found.find.kind,
                    .what = found.find.what,
                    .outcome = static_cast<int>(found.find.outcome),
                    .lanes_not_zero = found.find.lanes_not_zero,
                    .calls = found.find.calls,
                    .seen = found.find.seen,
                    .round = found.round.number,
                    .cases = {}};
    for (const Case& c : found.find.cases) find.cases.push_back(print(c));
    return find;
}

Found found_of(const StoredFind& find, const Share& share) {
    Found found;
    found.find.kind = find.kind;
    found.find.what = find.what;
    found.find.outcome = static_cast<Outcome>(find.outcome);
    found.find.lanes_not_zero = find.lanes_not_zero;
    found.find.calls = find.calls;
    found.find.seen = find.seen;
    found.round = {share.seed, share.worker, find.round};
    for (const std::string& text : find.cases)
        if (auto c = parse_case(text)) found.find.cases.push_back(c.value());
    return found;
}

Error bad(const std::string& path, const std::string& what) {
    return bad_input(path + ": " + what);
}

// The version decides what the other keys mean, so it is asked first and alone.
Status read_state(const std::string& path, const json::Json& json, StoredState& state) {
    std::uint64_t version = 0;
    Status read = json::read_key(json, "mxcheck_fuzz", version);
    if (read && version != state.version)
        return bad(path, "is the state of another version of this program");
    if (read) read = json::read_record(json, state);
    if (read) return read;
    return bad(path, "is not the state of a search, or a damaged one: " + read.error().message);
}

Status check_heading(const std::string& path, const StoredState& state, const std::string& scope,
                     const Share& share) {
    if (state.scope != scope)
        return bad(path, "cannot resume, the search was \"" + state.scope + "\" and is now \"" +
                             scope + "\"");
    if (state.worker != share.worker) return bad(path, "is the state of another worker");
    return success();
}

void restore_all(const StoredState& state, Search& search) {
    search.counts_to_restore() = state.counts;
    std::map<std::string_view, const StoredTheme*> themes;
    for (const StoredTheme& theme : state.themes) themes[theme.theme] = &theme;
    for (Coverage& coverage : search.coverage_to_restore())
        if (const auto at = themes.find(name_of_theme(coverage.theme)); at != themes.end())
            restore(*at->second, coverage);
    for (const StoredFind& find : state.finds) {
        Found found = found_of(find, search.share());
        search.finds_to_restore().emplace(found.find.kind, std::move(found));
    }
}

}  // namespace

std::string state_path(const std::string& folder, std::uint64_t worker) {
    return (std::filesystem::path(folder) / ("worker-" + std::to_string(worker) + ".json"))
        .string();
}

Status store_state(const std::string& path, const std::string& scope, const Search& search) {
    StoredState state{.scope = scope,
                      .worker = search.share().worker,
                      .counts = search.counts(),
                      .themes = {},
                      .finds = {}};
    for (const Coverage& coverage : search.coverage())
        if (coverage.blocks > 0 || coverage.is_refused) state.themes.push_back(stored(coverage));
    for (const auto& [kind, found] : search.finds()) state.finds.push_back(stored(found));
    const std::string text = json::lines_of(state) + "\n";
    return write_atomically(path, {std::as_bytes(std::span(text))});
}

Status restore_state(const std::string& path, const std::string& scope, Search& search) {
    std::ifstream stream(path);
    if (!stream) return bad(path, "there is no search to go on with");
    const auto json = json::Json::parse(stream, nullptr, false);
    if (!json.is_object()) return bad(path, "is not the state of a search");
    StoredState state;
    if (const Status read = read_state(path, json, state); !read) return read;
    const Status fits = check_heading(path, state, scope, search.share());
    if (!fits) return fits;
    try {
        restore_all(state, search);
    } catch (const std::exception&) {
        return bad(path, "is not the state of a search, or a damaged one");
    }
    return success();
}

std::string find_path(const std::string& folder, const Find& find) {
    std::string name;
    for (const char c : find.kind) {
        const bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        const char printed = is_plain ? c : c == '+' ? 'p' : '-';
        if (printed != '-' || (!name.empty() && name.back() != '-')) name += printed;
    }
    return (std::filesystem::path(folder) / "finds" / (name + ".case")).string();
}

Status store_find(const std::string& path, const Found& found) {
    std::ostringstream text;
    text << "# " << found.find.kind << "\n# first seen with seed " << found.round.seed
         << ", worker " << found.round.worker << ", round " << found.round.number << "\n";
    if (found.find.cases.size() > 1)
        text << "# the last line fails once those before it were asked of the same device\n";
    if (found.find.cases.empty())
        text << "# no case that could be written down failed again on a device just opened, or the "
                "search ended first\n";
    for (const Case& c : found.find.cases) text << print(c) << "\n";
    const std::string bytes = text.str();
    return write_atomically(path, {std::as_bytes(std::span(bytes))});
}

Expected<std::vector<Case>> read_find(const std::string& path) {
    std::ifstream stream(path);
    if (!stream) return bad(path, "cannot be read");
    std::vector<Case> cases;
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        if (line.empty() || line.front() == '#') continue;
        auto c = parse_case(line);
        if (!c) return bad(path + ":" + std::to_string(number), c.error().message);
        cases.push_back(std::move(c).value());
    }
    return cases;
}

}  // namespace mx::fuzz
