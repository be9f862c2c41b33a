// The file of waivers, in TOML.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "conformance/case/field_names.hpp"
#include "conformance/case/names.hpp"
#include "conformance/waivers/waivers.hpp"
#include "reference/base/toml_text.hpp"

namespace mx {
namespace {

constexpr const char* table_name = "waiver";
constexpr const char* axis_key = "axis";
constexpr const char* date_key = "expires";
constexpr std::string_view sweep_word = "sweep";
constexpr std::string_view sweep_key = "map";

// The keys of a waiver, and where each goes. All but the axis must be there.
struct Key {
    const char* name;
    std::string results::Waiver::*member;
};
constexpr std::array keys{
    Key{"device", &results::Waiver::device},
    Key{"case", &results::Waiver::case_pattern},
    Key{"mismatch", &results::Waiver::mismatch_class},
    Key{axis_key, &results::Waiver::axis},
    Key{"reason", &results::Waiver::reason},
    Key{"link", &results::Waiver::link},
    Key{"owner", &results::Waiver::owner},
    Key{date_key, &results::Waiver::expires},
};

bool is_blank(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

bool is_anything(const std::string& glob) {
    return glob.find_first_not_of("*?") == std::string::npos;
}

// A text, or for the date a day without a time.
Expected<std::string> text_of(const toml::node& node, const char* key) {
    if (std::string_view(key) == date_key) {
        if (!node.is_date())
            return bad_input("'expires' must be a day, as in expires = 2027-01-31");
        const toml::date day = node.as_date()->get();
        char text[24];
        std::snprintf(text, sizeof text, "%04d-%02d-%02d", day.year, day.month, day.day);
        return std::string(text);
    }
    if (!node.is_string()) return bad_input(std::string("'") + key + "' must be a text in quotes");
    std::string text = node.as_string()->get();
    if (is_blank(text)) return bad_input(std::string("'") + key + "' is empty");
    return text;
}

Status check_pattern(const Words& pattern) {
    std::vector<std::string> heads = operation_names();
    heads.emplace_back(sweep_word);
    const bool any_head = std::ranges::any_of(
        heads, [&](const std::string& head) { return matches_glob(pattern.head, head); });
    if (!any_head) return check_name("operation", pattern.head, heads);
    std::vector<std::string> fields = field_names();
    fields.emplace_back(sweep_key);
    bool narrows = !is_anything(pattern.head);
    for (const KeyValue& field : pattern.fields) {
        if (const Status known = check_name("field", field.key, fields); !known) return known;
        narrows = narrows || !is_anything(field.value);
    }
    if (narrows) return success();
    return bad_input("the case pattern fits every case; name an operation, a format or a field");
}

// What can be wrong with a field whose type is right.
Status check_meaning(const Waiver& waiver) {
    const results::Waiver& record = waiver.record;
    if (is_anything(record.device))
        return bad_input("'device' fits every device; a waiver is for one that is named");
    const Status known =
        check_name("mismatch class", record.mismatch_class,
                   {results::mismatch_classes.begin(), results::mismatch_classes.end()});
    if (!known) return known;
    if (const Status is_axis = check_name("axis", record.axis, {"row", "col", "tile"});
        !record.axis.empty() && !is_axis)
        return is_axis;
    if (!record.link.starts_with("https://") && !record.link.starts_with("http://"))
        return bad_input("'link' is '" + record.link +
                         "', which is no http:// or https:// address");
    return check_pattern(waiver.pattern);
}

class File {
public:
    explicit File(std::string name) : name_(std::move(name)) {}

    Error error_at(std::size_t line, const std::string& message) const {
        return bad_input(name_ + ":" + std::to_string(line) + ": " + message);
    }

    Expected<std::vector<Waiver>> read(const toml::table& root) const {
        for (const auto& [key, node] : root)
            if (key != table_name)
                return error_at(line_of(node), "unknown key '" + std::string(key.str()) +
                                                   "'; each waiver stands under [[waiver]]");
        const toml::array* tables = root[table_name].as_array();
        if (tables == nullptr && root.contains(table_name))
            return error_at(line_of(*root.get(table_name)),
                            "a waiver stands under [[waiver]], in two brackets");
        if (tables == nullptr)
            return bad_input(name_ + ": holds no waiver; each begins with [[waiver]]");
        std::vector<Waiver> waivers;
        for (const toml::node& node : *tables) {
            auto waiver = read_waiver(node);
            if (!waiver) return waiver.error();
            waivers.push_back(std::move(waiver).value());
        }
        return waivers;
    }

private:
    static std::size_t line_of(const toml::node& node) { return node.source().begin.line; }

    Expected<Waiver> read_waiver(const toml::node& node) const {
        const toml::table* table = node.as_table();
        if (table == nullptr)
            return error_at(line_of(node), "a waiver stands under [[waiver]], in two brackets");
        Waiver waiver;
        waiver.line = line_of(node);
        for (const auto& [key, value] : *table)
            if (const Status known = check_name("key", std::string(key.str()), names_of(keys));
                !known)
                return error_at(line_of(value), known.error().message);
        for (const Key& key : keys) {
            const toml::node* value = table->get(key.name);
            if (value == nullptr && std::string_view(key.name) == axis_key) continue;
            if (value == nullptr)
                return error_at(waiver.line, std::string("the waiver has no '") + key.name + "'");
            auto text = text_of(*value, key.name);
            if (!text) return error_at(line_of(*value), text.error().message);
            waiver.record.*key.member = std::move(text).value();
        }
        auto pattern = split_words(waiver.record.case_pattern);
        if (!pattern) return error_at(waiver.line, pattern.error().message);
        waiver.pattern = std::move(pattern).value();
        if (const Status meant = check_meaning(waiver); !meant)
            return error_at(waiver.line, meant.error().message);
        return waiver;
    }

    std::string name_;
};

}  // namespace

Expected<std::vector<Waiver>> parse_waivers(std::string_view text, const std::string& name) {
    const File file(name);
    if (const std::size_t stray = stray_toml_character(text); stray != text.npos)
        return file.error_at(
            1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, stray), '\n')),
            "a character beyond ASCII outside quotes and comments");
    const toml::parse_result parsed = toml::parse(text, name);
    if (!parsed)
        return file.error_at(parsed.error().source().begin.line,
                             std::string(parsed.error().description()));
    return file.read(parsed.table());
}

}  // namespace mx
