// One fault, one sentence: what the modules behind run, fuzz, identify, relate and accuracy make of
// a device that refuses, fails, dies, hangs or writes nothing, and bench of one that lets it live.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <map>

#include "bench/throughput.hpp"
#include "conformance/accuracy/device_codes.hpp"
#include "conformance/accuracy/quantizer_names.hpp"
#include "conformance/identify/subject.hpp"
#include "conformance/relation/subject.hpp"
#include "conformance/run/runner.hpp"
#include "device/abi/mx_device.h"
#include "device/host/client.hpp"
#include "fuzz/search/device_judge.hpp"
#include "fuzz/search/search.hpp"

namespace mx {
namespace {

enum class Flaw { refuses, dies_when_asked, fails, is_lost, dies, hangs, writes_nothing };
// Of the device that is opened next: its process is a copy of this one.
Flaw flaw = Flaw::refuses;

mx_status say(mx_message* message, mx_status status, const char* text) {
    std::snprintf(message->text, message->capacity, "%s", text);
    return status;
}

mx_status supports(void*, const mx_operation*, const mx_tensor*, std::size_t, const mx_tensor*,
                   std::size_t, mx_message* message) {
    if (flaw == Flaw::dies_when_asked) ::raise(SIGKILL);
    return flaw == Flaw::refuses ? say(message, MX_NOT_SUPPORTED, "not today") : MX_OK;
}

mx_status run(void*, const mx_operation*, const mx_tensor*, std::size_t, const mx_tensor*,
              std::size_t, mx_message* message) {
    if (flaw == Flaw::fails) return say(message, MX_FAILED, "too hot");
    if (flaw == Flaw::is_lost) return MX_DEVICE_LOST;
    if (flaw == Flaw::dies) ::raise(SIGKILL);
    while (flaw == Flaw::hangs) ::pause();
    return MX_OK;
}

const mx_device_api* flawed_api(std::uint32_t) {
    static const mx_device_api table{sizeof(mx_device_api),
                                     MX_DEVICE_ABI_VERSION,
                                     [](void** device, mx_message*) {
                                         *device = nullptr;
                                         return MX_OK;
                                     },
                                     [](void*) {},
                                     [](void*, const mx_fact**) -> std::size_t { return 0; },
                                     supports,
                                     run,
                                     nullptr,
                                     nullptr};
    return &table;
}

const DeviceSource flawed{.name = "flawed", .get_api = flawed_api};

const Case& asked() {
    static const Case c = parse_case("quantize format=mxfp8-e4m3 shape=1x32 data=edge.tie").value();
    return c;
}

results::CaseResult recorded_by_run(const Client& client) {
    Sources sources;
    return Runner(client, sources, {}).run({"test", asked()}).value();
}

fuzz::Judgement judged_by_fuzz(const Client& client) {
    Sources sources;
    return fuzz::DeviceJudge(client).judge(asked(),
                                           make_inputs(asked(), *sources.open(asked()).value()));
}

std::string told_by_identify(const Client& client) {
    identify::Subject subject(client, {*find_block_format("mxfp8-e4m3"), formats::f32, "ocp"});
    const std::array<identify::Lanes, 1> zeros{};
    return subject.quantize(zeros).error().message;
}

std::string told_by_relate(const Client& client) {
    relation::Subject subject(
        client,
        {.operation = "quantize", .format = "mxfp8-e4m3", .dialect = "ocp", .elements = "e4m3"});
    return subject.quantize(make_tensor("f32", 1, 32)).error().message;
}

std::string told_by_accuracy(const Client& client) {
    const std::array<float, 32> zeros{};
    const auto quantizer = accuracy::quantizer_of({"mxfp8-e4m3", "ocp"});
    return accuracy::encode_on(client, quantizer.value(), {zeros, 32}).error().message;
}

// Bench asks in this very process: of what ends it nothing can be told.
std::string told_by_bench() {
    auto device = Device::open(flawed);
    std::string told;
    const bench::Wish wish{.operations = {"quantize"},
                           .formats = {{"mxfp8-e4m3", "ocp"}},
                           .types = {"f32"},
                           .shapes = {"1x32"}};
    const Status done = bench::measure({device.value()}, wish, [&](const results::BenchRow& row) {
        told = row.reason;
        return true;
    });
    return done ? told : done.error().message;
}

std::map<std::string, std::string> sentences(const Limits& limits = {}) {
    std::map<std::string, std::string> told;
    const auto opened = [&limits] { return open_client(flawed, limits).value(); };
    told["run"] = recorded_by_run(opened()).reason;
    told["fuzz"] = judged_by_fuzz(opened()).reason;
    told["identify"] = told_by_identify(opened());
    told["relate"] = told_by_relate(opened());
    told["accuracy"] = told_by_accuracy(opened());
    return told;
}

void expect_all(const std::map<std::string, std::string>& told, const std::string& sentence) {
    for (const auto& [command, its] : told) EXPECT_EQ(its, sentence) << command;
}

TEST(OneClient, RefusalsAndFailuresHaveOneSentence) {
    const std::pair<Flaw, const char*> flaws[] = {
        {Flaw::refuses, "not today"},
        {Flaw::fails, "run answered MX_FAILED: too hot"},
        {Flaw::is_lost, "device lost in run: no reason given"}};
    for (const auto& [its, sentence] : flaws) {
        flaw = its;
        expect_all(sentences(), sentence);
        EXPECT_EQ(told_by_bench(), sentence);
    }
}

TEST(OneClient, SoHasTheEndOfItsProcess) {
    flaw = Flaw::dies_when_asked;
    expect_all(sentences(), "killed by signal 9 (Killed) in supports");
    flaw = Flaw::dies;
    expect_all(sentences(), "killed by signal 9 (Killed) in run");
    flaw = Flaw::hangs;
    expect_all(sentences({.call = std::chrono::seconds(1)}), "no answer within 1 s in run");
}

// Run and fuzz count the elements.
TEST(OneClient, SoHasWhatWasNotWritten) {
    flaw = Flaw::writes_nothing;
    const Client client = open_client(flawed).value();
    for (const std::string& told :
         {told_by_identify(client), told_by_relate(client), told_by_accuracy(client)})
        EXPECT_NE(told.find("it left elements unwritten"), std::string::npos) << told;
    EXPECT_EQ(recorded_by_run(client).mismatches.at(0).mismatch_class, "unwritten");
    EXPECT_EQ(judged_by_fuzz(client).mismatches.at(0).mismatch_class, "unwritten");
}

std::size_t found_by_search(Client client) {
    fuzz::DeviceJudge judge(std::move(client));
    fuzz::Search search({asked()}, {}, judge);
    search.run([](const fuzz::Search& s) { return s.counts().rounds >= 2; });
    return search.finds().size();
}

// What a device does instead of saying whether it supports a question is no refusal, be it once.
TEST(OneClient, ASearchFindsWhatEndsOrFailsInSupports) {
    flaw = Flaw::refuses;
    EXPECT_EQ(found_by_search(open_client(flawed).value()), 0u);
    flaw = Flaw::dies_when_asked;
    EXPECT_EQ(found_by_search(open_client(flawed).value()), 1u);
    for (const AnswerKind kind :
         {AnswerKind::crash, AnswerKind::timeout, AnswerKind::device_error}) {
        bool has_failed = false;
        Client once;
        once.refuses = [&, kind](const Question&) -> std::optional<DeviceAnswer> {
            if (std::exchange(has_failed, true)) return DeviceAnswer{AnswerKind::not_supported};
            return DeviceAnswer{kind, "it was once"};
        };
        once.ask = [](const Question&) { return DeviceAnswer{AnswerKind::not_supported}; };
        EXPECT_EQ(found_by_search(once), 1u);
    }
}

// A search begins its samples on a device that has forgotten the last one.
TEST(OneClient, ARestartOpensTheDeviceAnew) {
    flaw = Flaw::fails;
    const Client client = open_client(flawed).value();
    flaw = Flaw::refuses;
    EXPECT_EQ(recorded_by_run(client).reason, "run answered MX_FAILED: too hot");
    client.restart();
    EXPECT_EQ(recorded_by_run(client).reason, "not today");
    EXPECT_TRUE(client.close());
}

}  // namespace
}  // namespace mx
