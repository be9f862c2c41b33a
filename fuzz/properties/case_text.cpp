// Properties of the one grammar: every valid case prints to text that parses back to it, and no
// text, however damaged, is more than refused. Opens no data.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "conformance/case/case.hpp"
#include "conformance/case/fields.hpp"
#include "conformance/case/names.hpp"
#include "fuzz/generators.hpp"
#include "reference/problem/problem.hpp"

namespace mx::fuzz {
namespace {

std::string draw_name(const std::vector<std::string>& names) {
    return *rc::gen::elementOf(names);
}

// A family's name, or a path with everything that the grammar must quote.
std::string draw_data() {
    if (*rc::gen::inRange(0, 4) == 0) return "edge.tie";
    std::string path = "file:";
    for (const std::string& piece :
         *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(
             std::vector<std::string>{"a", "/", ".npy", " ", "\t", "\"", "\\", "'", "=", "\xC3\xBC",
                                      "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "x=1", "\\\"", "\n"})))
        path += piece;
    return path;
}

Case draw_case() {
    CaseWords words;
    words.operation =
        draw_name({"quantize", "dequantize", "convert", "encode_scale"});  // gemm has other fields
    const OperationKind operation =
        words.operation == "convert" ? OperationKind::convert : OperationKind::quantize;
    words.format = draw_name(format_names(operation));
    words.dialect = draw_name(dialect_names());
    words.type = draw_name(type_names());
    if (words.operation.ends_with("quantize")) {
        words.axis = draw_name(axis_names());
        words.block = *rc::gen::element<std::int64_t>(16, 32, 64);
    }
    if (words.operation == "convert" && words.format != "e8m0") {
        words.rounding = draw_name(rounding_names());
        words.overflow = draw_name(overflow_names());
        words.subnormals = draw_name(subnormal_names());
    }
    words.layout = draw_name(layout_names());
    words.rest.rows = *rc::gen::inRange<std::int64_t>(0, 1 << 20);
    words.rest.columns = *rc::gen::inRange<std::int64_t>(0, 1 << 20);
    words.rest.data = draw_data();
    words.rest.index = *any_bits<std::uint64_t>();
    words.rest.seed = *any_bits<std::uint64_t>();
    return case_of(words).value();
}

RC_GTEST_PROP(CaseText, EveryValidCasePrintsAndParsesBack, ()) {
    const Case c = draw_case();
    RC_PRE(check_combination(c).ok());  // not every dialect has every format and type
    const std::string text = print(c);
    const auto back = parse_case(text);
    if (!back) RC_FAIL(text + ": " + back.error().message);
    RC_ASSERT(back.value() == c);
    RC_ASSERT(print(back.value()) == text);
}

// What a damaged line means may change, but it is refused or prints back to itself.
RC_GTEST_PROP(CaseText, ADamagedLineIsRefusedOrSound, ()) {
    std::string text = print(draw_case());
    const auto place = *rc::gen::inRange<std::size_t>(0, text.size());
    const std::string insert = *any_text();
    text.replace(place, *rc::gen::inRange<std::size_t>(0, 4), insert);
    const auto c = parse_case(text);
    if (!c)
        RC_ASSERT(!c.error().message.empty());
    else
        RC_ASSERT(parse_case(print(c.value())).value() == c.value());
}

RC_GTEST_PROP(CaseText, AnyTextIsRefusedOrSound, ()) {
    const std::string text = *any_text();
    const auto words = split_words(text);
    if (!words) RC_DISCARD("not words");
    std::string again = print_field("head", words.value().head).substr(5);
    for (const KeyValue& field : words.value().fields)
        again += " " + print_field(field.key, field.value);
    RC_PRE(words.value().head.find('=') == std::string::npos);
    for (const KeyValue& field : words.value().fields)  // keys are names: they are not quoted
        RC_PRE(field.key.find_first_of(" \t\"\\") == std::string::npos);
    const auto back = split_words(again);
    RC_ASSERT(back.ok());
    RC_ASSERT(back.value().head == words.value().head);
    RC_ASSERT(back.value().fields == words.value().fields);
}

RC_GTEST_PROP(CaseText, EveryNumberParsesBackAndNothingLonger, ()) {
    const auto number = *any_bits<std::uint64_t>();
    const std::string text = std::to_string(number);
    RC_ASSERT(parse_number("seed", text).value() == number);
    RC_ASSERT(!parse_number("seed", text + *rc::gen::elementOf(std::string(" x.e-"))).ok());
    RC_ASSERT(!parse_number("seed", "-" + text).ok());
}

// A file of the corpus is refused, unless its name begins with good_.
TEST(CaseText, EachFileOfTheCorpusDoesWhatItsNameSays) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(MX_CORPUS "/case")) {
        std::ifstream stream(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        const bool is_good = entry.path().filename().string().starts_with("good_");
        EXPECT_EQ(parse_case(text).ok(), is_good) << entry.path();
        ++files;
    }
    EXPECT_GE(files, 10);
}

}  // namespace
}  // namespace mx::fuzz
