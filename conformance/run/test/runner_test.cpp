// Tests of the whole line with real devices in processes of their own: the embedded device passes,
// planted bugs get their class, their verdict and a repro line that shows them again.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "conformance/run/runner.hpp"
#include "reference/problem/problem.hpp"
#include "reference/spec/quantizers.hpp"

// The embedded device's one door. This room may not include device/cpu; linking it is enough here.
const mx_device_api* mx_cpu_device_api(void);

namespace mx {
namespace {

using results::CaseResult;
using results::Verdict;

DeviceSource mutant(const std::string& name) {
    DeviceSource source;
    source.name = "mutants.so:bug=" + name;
    source.path = MX_MUTANT_DIRECTORY "/mutants.so";
    source.configuration = "bug=" + name;
    return source;
}

DeviceSource embedded() {
    DeviceSource source;
    source.name = "cpu";
    source.get_api = [](std::uint32_t) { return mx_cpu_device_api(); };
    return source;
}

// A device, the sources it is asked from, and the runner between them.
class Bench {
public:
    explicit Bench(const DeviceSource& source, const Limits& limits = {})
        : device_(open_client(source, limits)) {
        if (!device_) throw std::runtime_error(device_.error().message);
    }
    CaseResult run(const Case& c) {
        auto result = runner_.run({"test", c});
        if (!result) throw std::runtime_error(result.error().message);
        return std::move(result).value();
    }
    CaseResult run(const std::string& text) { return run(parse_case(text).value()); }
    Runner& runner() { return runner_; }

private:
    Expected<Client> device_;
    Sources sources_;
    Runner runner_{device_.value(), sources_, {" --device ./mine.so"}};
};

std::string case_in(const std::string& repro) {
    const std::string open = "mxcheck replay '", close = "' --device ./mine.so";
    EXPECT_TRUE(repro.starts_with(open) && repro.ends_with(close)) << repro;
    return repro.substr(open.size(), repro.size() - open.size() - close.size());
}

// Each cluster's repro line alone shows the same class again.
void expect_repros(Bench& bench, const CaseResult& result) {
    for (const results::Mismatch& m : result.mismatches) {
        const std::string text = case_in(m.repro);
        const auto c = parse_case(text);
        ASSERT_TRUE(c.ok()) << text;
        EXPECT_EQ(print(c.value()), text);
        std::set<std::string> classes;
        for (const results::Mismatch& again : bench.run(c.value()).mismatches)
            classes.insert(again.mismatch_class);
        EXPECT_TRUE(classes.contains(m.mismatch_class)) << m.mismatch_class << " in " << text;
    }
}

std::string ocp(const std::string& rest) {
    return "quantize format=mxfp8-e4m3 dialect=ocp input=f32 " + rest;
}
std::string nv(const std::string& rest) {
    return "quantize format=mxfp8-e4m3 dialect=nv input=f32 " + rest;
}

// The dialects that device/cpu is written for: these, and all whose scale has a mantissa. It
// refuses the others, and says which it was.
const std::set<std::string> embedded_dialects = [] {
    std::set<std::string> names{"ocp",          "nv",           "torchao-floor",
                                "torchao-ceil", "torchao-even", "torchao-rceil"};
    for (const Quantizer& row : real_scale_quantizers) names.emplace(row.name);
    for (const Quantizer& row : conversions) names.emplace(row.name);
    return names;
}();

// Did the device refuse it by the dialect's name, or the runner for what the dialect waits for?
bool is_refused(const CaseResult& r) {
    const Quantizer& dialect = *find_quantizer(r.dialect);
    const bool waits = !dialect.is_known() && r.reason.ends_with(dialect.waits);
    return r.verdict == Verdict::not_supported &&
           (waits || r.reason == "dialect \"" + r.dialect + "\"");
}

// Every output is counted once, as elements or as scales; of both axes, each side's.
void expect_counts(const Case& c, const CaseResult& r) {
    std::uint64_t lanes = 0, blocks = 0;
    for (const BlockAxis axis : axes_of(c)) {
        const Case side = along(c, axis);
        lanes += static_cast<std::uint64_t>(element_count(side));
        blocks += static_cast<std::uint64_t>(block_grid(side).count());
        if (has_tensor_number(side)) ++blocks;  // counted with the scales
    }
    const bool only_scales = c.operation == OperationKind::encode_scale || casts_to_scale(c);
    EXPECT_EQ(r.elements, only_scales ? 0 : lanes) << r.case_text;
    EXPECT_EQ(r.scales, only_scales                              ? lanes
                        : c.operation == OperationKind::quantize ? blocks
                                                                 : 0)
        << r.case_text;
}

TEST(Runner, TheEmbeddedDevicePassesSmoke) {
    Bench bench(embedded());
    Sources sources;
    PlanRequest request;
    request.level = "smoke";
    const auto plan = plan_cases(built_in_suites(), request, sources);
    ASSERT_TRUE(plan.ok());
    std::set<std::string> passed;
    for (const PlannedCase& planned : plan.value()) {
        const auto result = bench.runner().run(planned);
        ASSERT_TRUE(result.ok()) << result.error().message;
        const CaseResult& r = result.value();
        EXPECT_EQ(r.case_text, print(planned.c));
        if (is_gemm(planned.c) &&
            dialect_name(planned.c) == "cublaslt") {  // blocks of D of its own
            EXPECT_EQ(r.verdict, Verdict::not_supported) << r.case_text;
            EXPECT_EQ(r.reason, "dialect \"cublaslt\"");
            continue;
        }
        if (is_gemm(planned.c)) {
            EXPECT_TRUE(r.verdict == Verdict::pass_exact || r.verdict == Verdict::pass_bounded)
                << r.case_text << " " << name_of(r.verdict) << ": " << r.reason;
            continue;
        }
        if (!embedded_dialects.contains(dialect_name(planned.c))) {
            EXPECT_TRUE(is_refused(r))
                << r.case_text << " " << name_of(r.verdict) << ": " << r.reason;
            continue;
        }
        EXPECT_EQ(r.verdict, Verdict::pass_exact) << r.case_text << " " << r.reason;
        expect_counts(planned.c, r);
        passed.insert(dialect_name(planned.c));
    }
    EXPECT_EQ(passed, embedded_dialects);
}

struct PlantedBug {
    const char* name;
    std::string text;
    const char* mismatch_class;
    Verdict verdict;
};

TEST(Runner, PlantedBugsGetTheirClassVerdictAndRepro) {
    const PlantedBug table[] = {
        {"ties_away", nv("shape=512x32 data=edge.tie index=2000"), "tie", Verdict::fail},
        {"scale_plus_one", nv("axis=col shape=33x5 data=random.spread"), "scale", Verdict::fail},
        {"no_saturation", ocp("shape=64x32 data=edge.amax index=1000"), "saturation",
         Verdict::fail},
        {"minus_zero_lost", nv("shape=64x32 data=edge.special index=715"), "sign_of_zero",
         Verdict::fail},
        {"minus_zero_lost",
         "convert format=e4m3 dialect=ocp shape=1x32 data=edge.special "
         "index=747",
         "sign_of_zero", Verdict::deviation},
        {"nan_sign_kept", nv("shape=64x32 data=edge.special index=65"), "special", Verdict::fail},
        {"zero_block_scale_127", ocp("layout=padded shape=1x96 data=edge.special index=712"),
         "scale", Verdict::deviation},
        {"last_block_unwritten", nv("shape=3x71 data=random.spread"), "unwritten", Verdict::fail},
        {"scale_overwrites_red_zone", nv("shape=3x71 data=random.spread"), "red_zone",
         Verdict::fail},
        {"input_modified", nv("shape=3x71 data=random.spread"), "input_modified", Verdict::fail},
    };
    for (const PlantedBug& bug : table) {
        Bench bench(mutant(bug.name));
        const CaseResult result = bench.run(bug.text);
        EXPECT_EQ(result.verdict, bug.verdict) << bug.name << " " << name_of(result.verdict);
        ASSERT_FALSE(result.mismatches.empty()) << bug.name;
        std::uint64_t clustered = 0;
        std::set<std::string> classes;
        for (const results::Mismatch& m : result.mismatches) {
            classes.insert(m.mismatch_class);
            if (!m.input_bits.empty()) clustered += m.count;
        }
        EXPECT_TRUE(classes.contains(bug.mismatch_class)) << bug.name;
        EXPECT_EQ(clustered, result.mismatched_elements + result.mismatched_scales) << bug.name;
        EXPECT_EQ(result.reason.empty(), bug.verdict != Verdict::deviation) << result.reason;
        expect_repros(bench, result);
    }
}

TEST(Runner, AFlakyDeviceIsFlaky) {
    Bench bench(mutant("random_flake"));
    const CaseResult result = bench.run(nv("shape=1024x32 data=random.spread"));
    EXPECT_EQ(result.verdict, Verdict::flaky) << name_of(result.verdict);
    ASSERT_FALSE(result.mismatches.empty());
    EXPECT_EQ(result.mismatches[0].mismatch_class, "flaky");
}

const std::string sound = nv("shape=3x71 data=random.spread");

// A tensor that is one block has a scale even where it has no element to show beside it.
TEST(Runner, AWrongScaleOfAnEmptyTensorIsAFailure) {
    DeviceSource source = mutant("zero_block_unguarded");
    source.path = MX_MUTANT_DIRECTORY "/real_scale_mutants.so";
    Bench bench(source);
    const CaseResult result = bench.run(
        "quantize format=fp8-e4m3-tensor dialect=te-fp8-current input=f32 shape=0x0 "
        "data=random.spread");
    EXPECT_EQ(result.verdict, Verdict::fail);
    EXPECT_EQ(result.mismatched_scales, 1u);
    ASSERT_EQ(result.mismatches.size(), 1u);
    EXPECT_EQ(case_in(result.mismatches[0].repro), result.case_text);
}

TEST(Runner, ACrashIsAVerdictAndTheNextCaseRuns) {
    Bench bench(mutant("crash_on_nan"));
    const CaseResult crash = bench.run(nv("shape=1x32 data=edge.special"));
    EXPECT_EQ(crash.verdict, Verdict::crash);
    EXPECT_FALSE(crash.reason.empty());
    EXPECT_EQ(crash.elements, 0u);
    EXPECT_EQ(bench.run(sound).verdict, Verdict::pass_exact);
}

TEST(Runner, ATimeoutIsAVerdictAndTheNextCaseRuns) {
    Limits limits;
    limits.call = std::chrono::milliseconds(1000);
    Bench bench(mutant("hang_on_zero_block"), limits);
    EXPECT_EQ(bench.run(nv("shape=1x32 data=edge.special index=714")).verdict, Verdict::timeout);
    EXPECT_EQ(bench.run(sound).verdict, Verdict::pass_exact);
}

// Each case would cost the whole timeout. Other operations are asked all the same, and one answer
// in between is enough to go on.
TEST(Runner, AnOperationThatHangsIsGivenUp) {
    Sources sources;
    std::vector<AnswerKind> kinds;  // the answers to come, the last for ever
    std::size_t asked = 0;
    Client client;
    client.ask = [&](const Question&) {
        const std::size_t place = std::min(asked++, kinds.size() - 1);
        return DeviceAnswer{kinds[place], "as planned", {}, {}};
    };
    const auto verdicts = [&](std::uint64_t timeouts_max, std::vector<AnswerKind> planned) {
        kinds = std::move(planned);
        asked = 0;
        Runner runner(client, sources, {"", false, timeouts_max});
        std::vector<Verdict> all;
        for (const std::string& text :
             {sound, sound, sound, sound, std::string("convert format=e4m3 shape=1x1 data=bits:0")})
            all.push_back(runner.run({"test", parse_case(text).value()}).value().verdict);
        return all;
    };
    const Verdict late = Verdict::timeout, failed = Verdict::device_error;
    const AnswerKind slow = AnswerKind::timeout, error = AnswerKind::device_error;
    EXPECT_EQ(verdicts(2, {slow}),
              (std::vector{late, late, Verdict::untested, Verdict::untested, late}));
    EXPECT_EQ(asked, 3u);
    EXPECT_EQ(verdicts(2, {slow, error, slow}), (std::vector{late, failed, late, late, late}));
    EXPECT_EQ(verdicts(0, {slow}), (std::vector{late, late, late, late, late}));
}

TEST(Runner, DataThatCouldNotFailIsMistrusted) {
    Bench bench(embedded());
    const std::string nothing =
        "encode_scale format=mxfp8-e4m3 dialect=ocp input=f32 shape=1x64 "
        "data=random.subnormal";
    EXPECT_EQ(bench.run(nothing).verdict, Verdict::insufficient_data);
    EXPECT_FALSE(bench.run(nothing).reason.empty());
}

// What a source leaves to a measurement is not asked of any device, but its casts are.
TEST(Runner, ADialectThatWaitsIsNotAskedForBlocks) {
    Bench bench(embedded());
    for (const Quantizer& dialect : e8m0_quantizers) {
        if (dialect.is_known()) continue;
        for (const BlockFormat& format : mx_block_formats) {
            if (!dialect.quantizes(format)) continue;
            const CaseResult result =
                bench.run("quantize format=" + std::string(format.name) +
                          " dialect=" + std::string(dialect.name) + " shape=1x32 data=edge.tie");
            EXPECT_EQ(result.verdict, Verdict::not_supported);
            EXPECT_NE(result.reason.find("waits for " + std::string(dialect.waits)),
                      std::string::npos)
                << result.reason;
        }
    }
}

// ... and what does not hang on the scale is: here the device itself says that it lacks the row.
TEST(Runner, ADialectThatWaitsIsAskedForTheRest) {
    Bench bench(embedded());
    const std::string waiting = " dialect=fbgemm-nearest shape=1x32 ";
    for (const char* text :
         {"dequantize format=mxfp4-e2m1 data=codes.all", "convert format=e2m1 data=edge.tie"}) {
        const CaseResult result = bench.run(text + waiting);
        EXPECT_EQ(result.verdict, Verdict::not_supported) << text;
        EXPECT_EQ(result.reason, "dialect \"fbgemm-nearest\"") << text;
    }
}

// Millions of values are not made for a device that says no to their shape.
TEST(Runner, ADeviceIsAskedForALargeCaseOnlyIfItSupportsIt) {
    int refused = 0, asked = 0;
    Sources sources;
    Client client;
    client.refuses = [&refused](const Question& question) {
        ++refused;
        EXPECT_EQ(question.operation.name, "quantize");
        EXPECT_EQ(question.inputs.at(0).spec, dense("f32", 512, 512));
        EXPECT_TRUE(question.inputs[0].data.empty());
        EXPECT_EQ(question.outputs.size(), 2u);
        DeviceAnswer answer;
        answer.kind = AnswerKind::not_supported;
        answer.reason = "too large";
        return std::optional(answer);
    };
    client.ask = [&asked](const Question&) {
        ++asked;
        return DeviceAnswer{AnswerKind::device_error, "asked", {}, {}};
    };
    Runner runner(client, sources, {});
    const std::string rest = " data=random.bits";
    const CaseResult large =
        runner.run({"test", parse_case(nv("shape=512x512" + rest)).value()}).value();
    EXPECT_EQ(large.verdict, Verdict::not_supported);
    EXPECT_EQ(large.reason, "too large");
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(asked, 0);
    const CaseResult small =
        runner.run({"test", parse_case(nv("shape=1x32" + rest)).value()}).value();
    EXPECT_EQ(small.verdict, Verdict::device_error);
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(asked, 1);
}

TEST(Runner, ACaseWithoutDataIsAnErrorNotAVerdict) {
    Bench bench(embedded());
    const auto result = bench.runner().run({"test", parse_case(nv("shape=1x1 data=zz")).value()});
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("unknown data family 'zz'"), std::string::npos);
}

TEST(SingleBlock, IsTheSameBlockAsATensorOfItsOwn) {
    for (const std::string& text :
         {ocp("axis=row shape=5x67 data=random.bits index=4 layout=padded"),
          ocp("axis=col shape=67x5 data=random.bits index=4"),
          std::string("convert format=e4m3 shape=7x33 data=random.bits index=4")}) {
        const Case c = parse_case(text).value();
        Sources sources;
        const auto source = sources.open(c).value();
        const CodeTensor whole = make_inputs(c, *source)[0];
        for (std::int64_t block = 0; block < block_grid(c).count(); ++block) {
            const Case narrow = single_block(c, block);
            EXPECT_EQ(block_grid(narrow).count(), 1);
            EXPECT_EQ(parse_case(print(narrow)).value(), narrow);
            const CodeTensor one = make_inputs(narrow, *source)[0];
            const BlockPlace place = place_of(blocking_of(c), block);
            ASSERT_EQ(one.count(), static_cast<std::size_t>(place.count));
            for (std::size_t lane = 0; lane < one.count(); ++lane)
                EXPECT_EQ(one.at(lane), whole.at(place.element(static_cast<int>(lane))));
        }
    }
}

}  // namespace
}  // namespace mx
