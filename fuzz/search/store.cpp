// See store.hpp.
#include "fuzz/search/store.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reference/base/files.hpp"
#include "reference/base/hex.hpp"

namespace mx::fuzz {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t state_version = 1;

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

Json json_of(const Coverage& coverage) {
    Json kept = Json::array();
    for (const BlockData& block : coverage.kept) kept.push_back(text_of(block));
    std::string parted;
    for (const char is_parted : coverage.parted) parted += is_parted != 0 ? '1' : '0';
    return {{"theme", name_of_theme(coverage.theme)},
            {"refused", coverage.is_refused},
            {"blocks", coverage.blocks},
            {"reach", coverage.reach.to_string()},
            {"parted", parted},
            {"kept", kept}};
}

// A number with a fraction or an exponent is none: nlohmann would cut it, and has undefined
// behaviour for one beyond 64 bits.
std::uint64_t whole(const Json& json, const char* key) {
    return json.at(key).get_ref<const Json::number_unsigned_t&>();
}

// Throws what nlohmann throws at what is not there.
void restore(const Json& json, Coverage& coverage) {
    coverage.is_refused = json.at("refused");
    coverage.blocks = whole(json, "blocks");
    coverage.reach = Reach(json.at("reach").get<std::string>());
    const std::string parted = json.at("parted");
    for (std::size_t i = 0; i < std::min(parted.size(), coverage.parted.size()); ++i)
        coverage.parted[i] = parted[i] == '1' ? 1 : 0;
    for (const Json& text : json.at("kept"))
        if (BlockData block = block_of(text); !block.lanes.empty())
            coverage.kept.push_back(std::move(block));
}

Json json_of(const Found& found) {
    Json cases = Json::array();
    for (const Case& c : found.find.cases) cases.push_back(print(c));
    return {{"kind", found.find.kind},
            {"what", found.find.what},
            {"outcome", static_cast<int>(found.find.outcome)},
            {"lanes_not_zero", found.find.lanes_not_zero},
            {"calls", found.find.calls},
            {"seen", found.find.seen},
            {"round", found.round.number},
            {"cases", cases}};
}

Found found_of(const Json& json, const Share& share) {
    Found found;
    found.find.kind = json.at("kind");
    found.find.what = json.at("what");
    found.find.outcome = static_cast<Outcome>(whole(json, "outcome"));
    found.find.lanes_not_zero =
        static_cast<int>(json.at("lanes_not_zero").get_ref<const Json::number_integer_t&>());
    found.find.calls = whole(json, "calls");
    found.find.seen = whole(json, "seen");
    found.round = {share.seed, share.worker, whole(json, "round")};
    for (const Json& text : json.at("cases"))
        if (auto c = parse_case(text.get<std::string>())) found.find.cases.push_back(c.value());
    return found;
}

Error bad(const std::string& path, const std::string& what) {
    return {ErrorKind::bad_input, path + ": " + what};
}

Status check_heading(const std::string& path, const Json& json, const std::string& scope,
                     const Share& share) {
    if (whole(json, "mxcheck_fuzz") != state_version)
        return bad(path, "is the state of another version of this program");
    const std::string was = json.at("scope");
    if (was != scope)
        return bad(path,
                   "cannot resume, the search was \"" + was + "\" and is now \"" + scope + "\"");
    if (whole(json, "worker") != share.worker) return bad(path, "is the state of another worker");
    return success();
}

void restore_all(const Json& json, Search& search) {
    Counts& counts = search.counts_to_restore();
    counts.rounds = whole(json, "rounds");
    counts.blocks = whole(json, "blocks");
    counts.calls = whole(json, "calls");
    counts.refused = whole(json, "refused");
    counts.deviations = whole(json, "deviations");
    std::map<std::string, const Json*> themes;
    for (const Json& theme : json.at("themes")) themes[theme.at("theme")] = &theme;
    for (Coverage& coverage : search.coverage_to_restore())
        if (const auto at = themes.find(name_of_theme(coverage.theme)); at != themes.end())
            restore(*at->second, coverage);
    for (const Json& find : json.at("finds")) {
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
    Json themes = Json::array(), finds = Json::array();
    for (const Coverage& coverage : search.coverage())
        if (coverage.blocks > 0 || coverage.is_refused) themes.push_back(json_of(coverage));
    for (const auto& [kind, found] : search.finds()) finds.push_back(json_of(found));
    const Counts& counts = search.counts();
    const Json json{{"mxcheck_fuzz", state_version},
                    {"scope", scope},
                    {"worker", search.share().worker},
                    {"rounds", counts.rounds},
                    {"blocks", counts.blocks},
                    {"calls", counts.calls},
                    {"refused", counts.refused},
                    {"deviations", counts.deviations},
                    {"themes", themes},
                    {"finds", finds}};
    const std::string text = json.dump(0, ' ', false, Json::error_handler_t::replace) + "\n";
    return write_atomically(path, {std::as_bytes(std::span(text))});
}

Status restore_state(const std::string& path, const std::string& scope, Search& search) {
    std::ifstream stream(path);
    if (!stream) return bad(path, "there is no search to go on with");
    const Json json = Json::parse(stream, nullptr, false);
    if (json.is_discarded()) return bad(path, "is not the state of a search");
    try {
        const Status fits = check_heading(path, json, scope, search.share());
        if (fits) restore_all(json, search);
        return fits;
    } catch (const std::exception&) {
        return bad(path, "is not the state of a search, or a damaged one");
    }
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
        text << "# no case that could be written down failed again on a device just opened\n";
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
