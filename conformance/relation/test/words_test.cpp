// The words of options as a setting and a sample, the line that asks a sample again, and what a
// relation comes to in a record.
#include "conformance/relation/words.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "conformance/relation/record.hpp"

namespace mx::relation {
namespace {

Words words_of(const std::string& format, const std::string& dialect) {
    Words words;
    words.format = format;
    words.dialect = dialect;
    return words;
}

TEST(Words, WhatIsNotNamedIsThatOfTheFormat) {
    const Setting mx = setting_of(words_of("mxfp4-e2m1", "ocp"), "quantize");
    EXPECT_EQ(mx.elements, "e2m1");
    EXPECT_EQ(mx.scales, "e8m0");
    EXPECT_EQ(mx.block, 32);
    EXPECT_FALSE(mx.number_given);
    const Setting nv = setting_of(words_of("nvfp4", "te-nvfp4"), "quantize");
    EXPECT_EQ(nv.elements, "e2m1");
    EXPECT_EQ(nv.scales, "ue4m3");
    EXPECT_EQ(nv.block, 16);
    EXPECT_TRUE(nv.number_given && nv.number_kept);
    const Setting unknown = setting_of(words_of("myfp5", "mine"), "quantize");
    EXPECT_EQ(unknown.elements, "u8");
    EXPECT_EQ(unknown.block, 32);
}

TEST(Words, AGemmHasBlocksOfItsOwn) {
    Words words = words_of("nvfp4", "te-nvfp4");
    const Setting usual = setting_of(words, "gemm");
    EXPECT_EQ(usual.scales, "e8m0");
    EXPECT_EQ(usual.block, 32);
    EXPECT_EQ(usual.scaling, "1x32");
    EXPECT_EQ(usual.elements_b, usual.elements);
    words.scaling = "none";
    EXPECT_EQ(setting_of(words, "gemm").scaling, "");
}

TEST(Words, DialectsThatRelationsCannotAskForAreRefused) {
    EXPECT_TRUE(check_row(words_of("nvfp4", "te-nvfp4")));
    EXPECT_TRUE(check_row(words_of("myfp5", "mine")));
    EXPECT_FALSE(check_row(words_of("mxfp8-e4m3", "te-nvfp4")));
    EXPECT_FALSE(check_row(words_of("nvfp4-16x16", "te-nvfp4")));
    EXPECT_FALSE(check_row(words_of("nvfp4", "te-nvfp4-sr")));
}

// The words of a line, as the command line reads them.
Words read(const std::string& line) {
    Words words;
    std::istringstream options(line);
    for (std::string name, value; options >> name >> value;) {
        std::erase(value, '\'');
        if (name == "--op") words.operations = {value};
        if (name == "--relation") words.names = {value};
        if (name == "--format") words.format = value;
        if (name == "--dialect") words.dialect = value;
        if (name == "--elements") words.elements = value;
        if (name == "--b-elements") words.elements_b = value;
        if (name == "--scales") words.scales = value;
        if (name == "--scaling") words.scaling = value;
        if (name == "--block") words.block = std::stoull(value);
        if (name == "--input") words.values = value;
        if (name == "--seed") words.seed = std::stoull(value);
        if (name == "--shape") words.shape = value;
        if (name == "--bits") words.bits = value;
        if (name == "--scale-bits") words.scale_bits = value;
    }
    return words;
}

TEST(Words, ALineThatAsksAgainNamesTheSettingAndTheSample) {
    for (const Words& words :
         {words_of("mxfp8-e4m3", "ocp"), words_of("nvfp4", "te-nvfp4"), words_of("myfp5", "mine")})
        for (const Relation& relation : relations()) {
            const Subject subject({}, setting_of(words, std::string(relation.operation)));
            Result result;
            result.relation = &relation;
            result.sample = make_sample(relation, subject.setting(), 3);
            const std::string line = repro_of(words, subject.setting(), result);
            const Words again = read(line);
            ASSERT_EQ(again.operations.size(), 1u) << relation.name;
            const Subject same({}, setting_of(again, again.operations[0]));
            EXPECT_EQ(same.setting().elements, subject.setting().elements) << relation.name;
            EXPECT_EQ(same.setting().scales, subject.setting().scales) << relation.name;
            EXPECT_EQ(same.setting().block, subject.setting().block) << relation.name;
            EXPECT_EQ(same.setting().scaling, subject.setting().scaling) << relation.name;
            const auto sample = sample_of(again, same, relation);
            ASSERT_TRUE(sample) << sample.error().message;
            EXPECT_EQ(sample.value().seed, 3u);
            EXPECT_EQ(sample.value().values.bytes, result.sample.values.bytes) << relation.name;
            EXPECT_EQ(sample.value().scales.bytes, result.sample.scales.bytes) << relation.name;
            EXPECT_EQ(sample.value().extents, result.sample.extents) << relation.name;
        }
}

TEST(Words, ShapesAndCodesThatAreNoneAreRefused) {
    const Relation& relation = relations().front();
    ASSERT_EQ(relation.operation, "quantize");
    Words words = words_of("mxfp8-e4m3", "ocp");
    const Subject subject({}, setting_of(words, "quantize"));
    for (const char* shape : {"", "32", "1x0", "1x32x3", "-1x32", "1x32a", "65536x65536"}) {
        words.shape = shape;
        EXPECT_FALSE(sample_of(words, subject, relation)) << shape;
    }
    words.shape = "1x2";
    for (const char* bits : {"x", "1,2,3", "100000000"}) {
        words.bits = bits;
        EXPECT_FALSE(sample_of(words, subject, relation)) << bits;
    }
    words.bits = "3f800000";
    EXPECT_TRUE(sample_of(words, subject, relation));
}

results::CaseResult recorded(Standing standing, std::uint64_t compared) {
    const Setting setting = setting_of(words_of("mxfp8-e4m3", "ocp"), "quantize");
    Result result;
    result.relation = &relations().front();
    result.standing = standing;
    result.compared = compared;
    result.reason = "why";
    return record_of({setting, result, " --op quantize", "again"});
}

// Of what nothing is claimed the device passes no test and fails none.
TEST(Record, OnlyWhatIsClaimedPassesOrFails) {
    using results::Verdict;
    EXPECT_EQ(recorded(Standing::held, 7).verdict, Verdict::pass_exact);
    EXPECT_EQ(recorded(Standing::held, 7).elements, 7u);
    for (const Standing standing : {Standing::seen, Standing::unlike, Standing::unasked}) {
        EXPECT_EQ(recorded(standing, 7).verdict, Verdict::not_supported);
        EXPECT_EQ(recorded(standing, 7).elements, 0u);
    }
    EXPECT_EQ(recorded(Standing::faulty, 0).verdict, Verdict::device_error);
    const results::CaseResult broken = recorded(Standing::broken, 0);
    EXPECT_EQ(broken.verdict, Verdict::fail);
    EXPECT_EQ(broken.elements, 1u);
    ASSERT_EQ(broken.mismatches.size(), 1u);
    EXPECT_EQ(broken.mismatches[0].repro, "again");
    EXPECT_EQ(broken.case_text, "relate --op quantize");
}

}  // namespace
}  // namespace mx::relation
