// The metadata of a quantized file: complete and true, or refused with a sentence that names both
// sides.
#include "conformance/emulate/quantized_facts.hpp"

#include "conformance/emulate/recipe_fields.hpp"
#include "conformance/emulate/test/tensors.hpp"
#include "reference/proof/sha256.hpp"

namespace mx::emulate::test {
namespace {

data::TensorFile nv_file() {
    return quantized(powers_of_two({2, 40}), names_of("mxfp8-e4m3", "nv")).file;
}

std::string& value_of(data::TensorFile& file, std::string_view key) {
    for (auto& [found, value] : file.metadata)
        if (found == key) return value;
    ADD_FAILURE() << "no key " << key;
    return file.metadata.front().second;
}

std::string error_with(std::string_view key, const std::string& value) {
    data::TensorFile file = nv_file();
    value_of(file, key) = value;
    return error_of(read_facts(file, {}));
}

// Not of its formats, its source and how it is known.
TEST(QuantizedFacts, HashADialectByItsDecisions) {
    std::string text;
    for (const auto& [name, value] : recipe_fields(*find_quantizer("te-nvfp4"))) {
        const bool is_decision =
            name != "formats" && name != "left_open" && name != "source" && name != "known_by";
        if (is_decision) text += name + "=" + value + "\n";
    }
    EXPECT_EQ(rules_hash("te-nvfp4"), sha256(text));
}

TEST(QuantizedFacts, ComeBack) {
    const auto facts = read_facts(nv_file(), {});
    ASSERT_TRUE(facts.ok()) << facts.error().message;
    EXPECT_EQ(facts.value().names, names_of("mxfp8-e4m3", "nv"));
    EXPECT_EQ(facts.value().input_type, "f32");
    EXPECT_EQ(facts.value().shape, (Shape{2, 40}));
    EXPECT_TRUE(read_facts(nv_file(), facts.value().names).ok());
}

// Files of before said axis row of blocks that lie along none.
TEST(QuantizedFacts, BlocksAlongNoAxis) {
    data::TensorFile file =
        quantized(powers_of_two({2, 40}), names_of("fp8-e4m3-tensor", "te-fp8-current")).file;
    EXPECT_EQ(value_of(file, "axis"), "tensor");
    value_of(file, "axis") = "row";
    for (const std::string axis : {"", "row", "tensor"}) {
        const auto facts = read_facts(file, {"", "", axis, "", "", ""});
        ASSERT_TRUE(facts.ok()) << facts.error().message;
        EXPECT_EQ(facts.value().names.axis, "tensor");
    }
    EXPECT_NE(error_of(read_facts(file, {"", "", "col", "", "", ""})).find("contradicts it"),
              std::string::npos);
}

TEST(QuantizedFacts, AnotherRecipeIsRefusedWithBothValues) {
    const std::string made =
        "was quantized with format mxfp8-e4m3, dialect nv, axis row, block 32, scales linear, "
        "packing bytes; ";
    const BlockNames others{"mxfp8-e5m2", "ocp", "col", "16", "128x4", "inline"};
    for (const auto& [key, member] : data::name_keys) {
        BlockNames given;
        given.*member = others.*member;
        EXPECT_EQ(error_of(read_facts(nv_file(), given)),
                  made + "--" + std::string(key) + " " + others.*member + " contradicts it");
    }
    EXPECT_NE(error_of(read_facts(nv_file(), {"", "ocq", "", "", "", ""})).find("mean 'ocp'"),
              std::string::npos);
}

TEST(QuantizedFacts, EveryKeyMustBeThere) {
    const std::size_t count = nv_file().metadata.size();
    EXPECT_EQ(count, 10u);
    for (std::size_t i = 0; i < count; ++i) {
        data::TensorFile file = nv_file();
        const std::string key = file.metadata[i].first;
        file.metadata.erase(file.metadata.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_EQ(error_of(read_facts(file, {})),
                  "its metadata are damaged: they do not say its " + key);
        EXPECT_TRUE(data::is_quantized(file)) << key;
    }
    data::TensorFile bare = nv_file();
    bare.metadata.clear();
    EXPECT_EQ(error_of(read_facts(bare, {})),
              "has no metadata that say how it was quantized; mxcheck quantize writes them");
    EXPECT_FALSE(data::is_quantized(bare));
}

TEST(QuantizedFacts, WhatThisVersionDoesNotKnow) {
    for (const char* key :
         {"format", "dialect", "axis", "block", "scales", "packing", "input_type"})
        EXPECT_TRUE(
            error_with(key, "new")
                .starts_with(
                    "its metadata, written by mxcheck 9.9.9, are not for this version: unknown "))
            << error_with(key, "new");
    // Known names that do not go together.
    EXPECT_NE(error_with("axis", "both").find("a file holds the blocks of one axis"),
              std::string::npos);
    EXPECT_NE(error_with("packing", "low_first").find("codes of 4 bits"), std::string::npos);
    EXPECT_NE(error_with("format", "nvfp4").find("format nvfp4 has block 16, not '32'"),
              std::string::npos);
    EXPECT_EQ(error_with("dialect_hash", std::string(64, '0')),
              "was made by mxcheck 9.9.9 under another definition of dialect nv (its hash is "
              "'000000000000', here '" +
                  rules_hash("nv").substr(0, 12) + "')");
    // A name that only looks like another is another.
    EXPECT_NE(error_with("dialect", "ocp").find("another definition of dialect ocp"),
              std::string::npos);
}

TEST(QuantizedFacts, DamagedShapes) {
    for (const char* shape : {"2,,40", "2,x", "-2,40", "2,40,", ",2", "9223372036854775808",
                              "9223372036854775807,2", "2 40", "x"})
        EXPECT_EQ(error_with("shape", shape),
                  "its metadata are damaged: shape is '" + std::string(shape) + "'");
    EXPECT_EQ(error_with("shape", "0,0"), "no error");
}

TEST(QuantizedFacts, HostileNamesDoNotReachTheTerminal) {
    data::TensorFile file = nv_file();
    value_of(file, "dialect") = "\x1b[2J";
    for (const std::string& text :
         {error_of(read_facts(file, {"", "ocp", "", "", "", ""})),
          error_of(data::check_unquantized(file)), error_of(read_facts(file, {}))})
        EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST(QuantizedFacts, CodesAreNotTakenForValues) {
    EXPECT_TRUE(data::check_unquantized({{powers_of_two({2})}, {{"made by", "someone"}}}).ok());
    EXPECT_EQ(error_of(data::check_unquantized(nv_file())),
              "was quantized already with format mxfp8-e4m3, dialect nv, axis row, block 32, "
              "scales linear, packing bytes, so it holds codes and no values; mxcheck requantize "
              "changes how, mxcheck dequantize gives values");
}

// Two rows that decide alike have one hash; otherwise it tells them apart.
TEST(QuantizedFacts, TheHashIsOfTheRules) {
    for (const Quantizer& one : e8m0_quantizers)
        for (const Quantizer& other : e8m0_quantizers) {
            Quantizer renamed = other;
            renamed.name = one.name, renamed.title = one.title, renamed.source = one.source;
            renamed.waits = one.waits, renamed.open = one.open;
            renamed.formats = one.formats, renamed.inputs = one.inputs;
            EXPECT_EQ(renamed == one,
                      rules_hash(std::string(one.name)) == rules_hash(std::string(other.name)))
                << one.name << " " << other.name;
        }
    EXPECT_NE(rules_hash("te-nvfp4"), rules_hash("te-nvfp4-sr"));
    EXPECT_EQ(rules_hash("ocp").size(), 64u);
}

TEST(CompletedNames, FollowTheFormat) {
    EXPECT_EQ(completed({"mxfp8-e5m2", "", "", "", "", ""}),
              (BlockNames{"mxfp8-e5m2", "ocp", "row", "32", "linear", "bytes"}));
    EXPECT_EQ(completed({"mxfp4-e2m1", "", "", "", "", ""}).packing, "low_first");
    EXPECT_EQ(completed({"mxfp6-e2m3", "", "", "", "", ""}).packing, "six");
    EXPECT_EQ(completed({"nvfp4-16x16", "te-nvfp4", "", "", "", ""}),
              (BlockNames{"nvfp4-16x16", "te-nvfp4", "tile", "16x16", "linear", "low_first"}));
    EXPECT_EQ(completed({"fp8-e4m3-tensor", "", "", "", "", ""}).block, "tensor");
    EXPECT_EQ(completed({"fp8-e4m3-tensor", "", "row", "", "", ""}).axis, "tensor");
    EXPECT_EQ(
        error_of(check_names(completed({"fp8-e4m3-tensor", "te-fp8-current", "col", "", "", ""}))),
        "the blocks of fp8-e4m3-tensor lie along no axis; leave out --axis 'col'");
    BlockNames names = completed({"nvfp4", "te-nvfp4", "", "32", "", ""});
    EXPECT_EQ(error_of(check_names(names)), "format nvfp4 has block 16, not '32'");
    names = completed({"mxfp4-e2m1", "te-nvfp4", "", "", "", ""});
    EXPECT_FALSE(check_names(names).ok());
}

}  // namespace
}  // namespace mx::emulate::test
