// See gemm_row.hpp.
#include "conformance/case/gemm_row.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "conformance/case/names.hpp"
#include "reference/base/files.hpp"
#include "reference/base/json_record.hpp"
#include "reference/base/text.hpp"
#include "reference/spec/words.hpp"

namespace mx {
namespace {

constexpr int file_version = 1;
constexpr const char* version_key = "mxcheck_model";

// A row in words and numbers; empty or without a value where it is as GemmModel has it anyway.
struct RowText {
    std::string name;
    std::vector<std::string> operands;
    int products = 1;
    std::optional<int> fraction_bits;  // none: all
    std::string cut, accumulator, rounding, sum, order, exponents, zero_products;
    std::optional<int> exponent_floor, promotion, residue_tile, lanes, exact_group;
    std::string promoted, scaling, alpha;
    std::vector<std::string> scales, blocks;
    std::string source, open;
};

template <typename Archive, json::Either<RowText> Given>
void describe(Archive& archive, Given& row) {
    archive("name", row.name);
    archive("operands", row.operands);
    archive("products", row.products);
    archive.where_known("fraction_bits", row.fraction_bits);
    archive.where_any("cut", row.cut);
    archive.where_any("accumulator", row.accumulator);
    archive.where_any("rounding", row.rounding);
    archive.where_known("promotion", row.promotion);
    archive.where_any("promoted", row.promoted);
    archive.where_known("residue_tile", row.residue_tile);
    archive.where_known("lanes", row.lanes);
    archive.where_any("sum", row.sum);
    archive.where_any("order", row.order);
    archive.where_any("exponents", row.exponents);
    archive.where_any("zero_products", row.zero_products);
    archive.where_known("exponent_floor", row.exponent_floor);
    archive.where_known("exact_group", row.exact_group);
    archive.where_any("scaling", row.scaling);
    archive.where_any("scales", row.scales);
    archive.where_any("blocks", row.blocks);
    archive.where_any("alpha", row.alpha);
    archive.where_any("source", row.source);
    archive.where_any("open", row.open);
}

constexpr GemmModel usual{};

std::vector<std::string> split(std::string_view list) {
    const std::vector<std::string_view> words = words_in(list);
    return {words.begin(), words.end()};
}

template <typename Table, typename Value>
std::string word_of(const Table& table, Value value, Value usual_value) {
    return value == usual_value ? "" : std::string(name_in(table, value));
}
std::string word_of(const ElementFormat& format) {
    return format == formats::f32 ? "" : std::string(format.name);
}
std::optional<int> number_of(int value, int usual_value) {
    return value == usual_value ? std::nullopt : std::optional(value);
}

RowText words_of(const GemmModel& row) {
    RowText text{
        .name = std::string(row.name),
        .operands = split(row.operands),
        .products = row.products,
        .fraction_bits = number_of(row.fraction_bits, all_bits),
        .cut = word_of(roundings, row.cut, usual.cut),
        .accumulator = word_of(row.accumulator),
        .rounding = word_of(roundings, row.rounding, usual.rounding),
        .sum = word_of(step_sums, row.sum, usual.sum),
        .order = word_of(product_orders, row.order, usual.order),
        .exponents = word_of(factor_exponents, row.exponents, usual.exponents),
        .zero_products = word_of(zero_product_rules, row.zero_products, usual.zero_products),
        .exponent_floor = number_of(row.exponent_floor, usual.exponent_floor),
        .promotion = number_of(row.promotion, usual.promotion),
        .residue_tile = number_of(row.residue_tile, usual.residue_tile),
        .lanes = number_of(row.lanes, usual.lanes),
        .exact_group = number_of(row.exact_group, usual.exact_group),
        .promoted = word_of(row.promoted),
        .scaling = word_of(block_scalings, row.scaling, usual.scaling),
        .alpha = word_of(alpha_places, row.alpha, usual.alpha),
        .scales = split(row.scales),
        .blocks = split(row.blocks),
        .source = std::string(row.source),
        .open = std::string(row.open)};
    return text;
}

// Keeps the sentence of the first word that no table has.
class RowReader {
public:
    template <typename Table, typename Value>
    void take(std::string_view key, const std::string& word, const Table& table, Value& value) {
        if (word.empty()) return;
        const auto* found = find_named(table, word);
        if (found == nullptr)
            note(check_name(key, word, first_of(table)));
        else
            value = found->second;
    }
    void take_list(std::string_view key, const std::vector<std::string>& words,
                   const std::vector<std::string>& known, std::string& list) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            note(check_name(key, words[i], known));
            if (std::find(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i),
                          words[i]) != words.begin() + static_cast<std::ptrdiff_t>(i))
                note(bad_input(std::string(key) + " '" + words[i] + "' stands there twice"));
        }
        list = joined(words, " ");
    }
    void note(const Status& status) {
        if (status_) status_ = status;
    }
    const Status& status() const { return status_; }

private:
    Status status_ = success();
};

// The roundings that both oracles cut by: without random bits, and not the ties toward zero.
constexpr auto row_roundings = [] {
    constexpr auto usual = std::span(roundings).first<roundings.size() - 3>();
    static_assert(usual.back().second == Rounding::away_from_zero);
    std::array<std::pair<std::string_view, Rounding>, usual.size() + 1> all{};
    std::ranges::copy(usual, all.begin());
    all.back() = {"to_odd", Rounding::to_odd};
    return all;
}();

// "f32", "f16", "bf16", or binary32 with fewer bits of mantissa, "e8m13".
Status take_accumulator(OwnModel& own) {
    ElementFormat& format = own.row.accumulator;
    if (own.accumulator.empty() || own.accumulator == "f32") return success();
    constexpr std::string_view narrow = "e8m";
    const std::string digits =
        own.accumulator.starts_with(narrow) ? own.accumulator.substr(narrow.size()) : "";
    const bool is_number = !digits.empty() && digits.size() <= 2 &&
                           digits.find_first_not_of("0123456789") == std::string::npos;
    if (own.accumulator == "f16")
        format = formats::f16;
    else if (own.accumulator == "bf16")
        format = formats::bf16;
    else if (is_number && std::stoi(digits) >= 1 && std::stoi(digits) <= 22)
        format = e8m13, format.mantissa_bits = std::stoi(digits);
    else
        return bad_input("accumulator '" + own.accumulator +
                         "' is none of f32, f16, bf16 and e8m1 to e8m22");
    format.name = own.accumulator;
    return success();
}

Status take_name(const std::string& name) {
    const auto is_fit = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    };
    if (name.empty() || name.size() > model_name_max || !std::ranges::all_of(name, is_fit))
        return bad_input("name '" + name.substr(0, model_name_max) +
                         "' has not from 1 to 64 characters of a to z, 0 to 9, '-', '_' and '.'");
    if (find_gemm_model(name) != nullptr || name == "any" || name == "bounded" || name == "exact")
        return bad_input("name '" + name + "' is one of this program's own models");
    return success();
}

Status check_operands(const RowText& text) {
    if (text.operands.empty()) return bad_input("operands has no element format");
    const bool is_grouped = text.exact_group.value_or(1) > 1;
    for (const std::string& name : text.operands)
        if (is_grouped && find_element_format(name)->code_bits() > 6)
            return bad_input("operands '" + name +
                             "' has more bits than groups are summed exactly of, which is 6");
    return success();
}

void view_texts(OwnModel& own) {
    GemmModel& row = own.row;
    row.name = own.name;
    row.operands = own.operands;
    row.scales = own.scales;
    row.blocks = own.blocks;
    row.source = own.source;
    row.open = own.open;
}

using Own = Expected<std::shared_ptr<const OwnModel>>;

Own own_model(RowText text) {
    const auto own = std::make_shared<OwnModel>();
    RowReader reader;
    GemmModel& row = own->row;
    own->name = text.name;
    own->accumulator = text.accumulator;
    own->source = text.source;
    own->open = text.open;
    reader.note(take_name(text.name));
    reader.take_list("operands", text.operands,
                     {"f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1",
                      "e4m3fnuz", "e5m2fnuz"},
                     own->operands);
    reader.take_list("scales", text.scales, {"e8m0", "ue4m3", "f32"}, own->scales);
    reader.take_list("blocks", text.blocks, {"16", "32", "128"}, own->blocks);
    reader.take("cut", text.cut, row_roundings, row.cut);
    reader.take("rounding", text.rounding, row_roundings, row.rounding);
    reader.take("sum", text.sum, step_sums, row.sum);
    reader.take("order", text.order, product_orders, row.order);
    reader.take("exponents", text.exponents, factor_exponents, row.exponents);
    reader.take("zero_products", text.zero_products, zero_product_rules, row.zero_products);
    reader.take("scaling", text.scaling, block_scalings, row.scaling);
    reader.take("alpha", text.alpha, alpha_places, row.alpha);
    reader.note(take_accumulator(*own));
    if (!text.promoted.empty()) reader.note(check_name("promoted", text.promoted, {"f32", "f16"}));
    if (!reader.status()) return reader.status().error();
    if (const Status fit = check_operands(text); !fit) return fit.error();
    row.products = text.products;
    row.fraction_bits = text.fraction_bits.value_or(all_bits);
    row.promotion = text.promotion.value_or(0);
    row.residue_tile = text.residue_tile.value_or(0);
    row.lanes = text.lanes.value_or(1);
    row.promoted = text.promoted == "f16" ? formats::f16 : formats::f32;
    row.exact_group = text.exact_group.value_or(1);
    row.exponent_floor = text.exponent_floor.value_or(-all_bits);
    view_texts(*own);
    if (const std::string_view fault = fault_of(row); !fault.empty())
        return bad_input("no machine is so: " + std::string(fault));
    text.source.clear();
    text.open.clear();
    own->word = json::line_of(json::Writer::json_of(text));
    return std::shared_ptr<const OwnModel>(own);
}

Expected<json::Json> object_of(const std::string& text) {
    constexpr std::size_t longest = 65536;
    if (text.size() > longest) return bad_input("a model has no more than 65,536 characters");
    json::Json object = json::Json::parse(text, nullptr, false);
    if (!object.is_object()) return bad_input("this is no JSON object");
    return object;
}

Own own_model(const json::Json& object, const std::vector<const char*>& besides) {
    RowText text;
    if (const Status read = json::read_record(object, text, besides); !read) return read.error();
    return own_model(std::move(text));
}

}  // namespace

std::string model_file_text(const GemmModel& row) {
    json::Json object = json::Json::object();
    object[version_key] = file_version;
    json::Writer writer(object);
    const RowText text = words_of(row);
    describe(writer, text);
    return object.dump(2, ' ', false, json::Json::error_handler_t::replace) + "\n";
}

Own read_model_text(const std::string& text) {
    const auto object = object_of(text);
    if (!object) return object.error();
    int version = 0;
    const Status has_version = json::read_key(object.value(), version_key, version);
    if (!has_version) return has_version.error();
    if (version != file_version)
        return bad_input("model files of version " + std::to_string(version) +
                         " are not known, only of version 1");
    return own_model(object.value(), {version_key});
}

Own read_model_file(const std::string& path) {
    const auto text = text_of_file(path);
    if (!text) return bad_input("model file " + text.error().message);
    auto own = read_model_text(text.value());
    if (!own) return bad_input("model file " + path + ": " + own.error().message);
    return own;
}

Own read_model_word(const std::string& word) {
    const auto object = object_of(word);
    if (!object) return bad_input("model: " + object.error().message);
    auto own = own_model(object.value(), {});
    if (!own) return bad_input("model: " + own.error().message);
    return own;
}

}  // namespace mx
