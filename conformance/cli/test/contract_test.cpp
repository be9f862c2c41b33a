// One contract for every device: what each must answer to a call that is wrong in one place,
// whatever it computes. The devices of this program, the examples, the planted bugs and the oracle.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "conformance/cli/environment.hpp"
#include "conformance/selftest/oracle_device.hpp"
#include "device/abi/block_operation.hpp"
#include "device/abi/test/good_call.hpp"
#include "device/host/shared_library.hpp"

namespace mx::cli {
namespace {

constexpr std::uint32_t one_f32 = 0x3F800000;

void make_quantize(GoodCall& call, const char* dialect) {
    call.operation = block_operation("quantize", "mxfp8-e4m3", dialect, "row");
    call.inputs = {call.tensor("f32", 2, 40, 0)};
    call.outputs = {call.tensor("e4m3", 2, 40, unwritten), call.tensor("e8m0", 2, 2, unwritten)};
}

void make_gemm(GoodCall& call, const char*) {
    call.gemm = {sizeof(mx_gemm), 1,       one_f32, 0,       "1x32", "1x32",
                 nullptr,         nullptr, nullptr, nullptr, 0};
    call.operation.name = "gemm";
    call.operation.gemm = &call.gemm;
    call.inputs = {call.tensor("e4m3", 16, 128, 0x38), call.tensor("e8m0", 16, 4, 127),
                   call.tensor("e4m3", 16, 128, 0x38), call.tensor("e8m0", 16, 4, 127)};
    call.outputs = {call.tensor("f32", 16, 16, unwritten)};
}

// cuBLASLt reads block scales in tiles alone, and on some GPUs not at all.
void make_fp8_gemm(GoodCall& call, const char* dialect) {
    make_gemm(call, dialect);
    call.gemm.scaling_a = call.gemm.scaling_b = "tensor";
    for (const std::size_t scale : {1u, 3u}) call.inputs[scale] = call.tensor("f32", 1, 1, 0x3F);
}

struct Contestant {
    std::string name;
    DeviceSource source;
    void (*make)(GoodCall&, const char* dialect);
    const char* dialect;
    bool needs_gpu = false;
};

// The table of a device, which stays loaded.
const mx_device_api* table_of(const DeviceSource& source) {
    if (source.get_api != nullptr) return source.get_api(MX_DEVICE_ABI_VERSION);
    static std::vector<SharedLibrary> libraries;
    auto library = SharedLibrary::open(source.path);
    if (!library) return nullptr;
    const auto entry = library.value().entry();
    if (!entry) return nullptr;
    const mx_device_api* table = entry.value()(MX_DEVICE_ABI_VERSION);
    libraries.push_back(std::move(library).value());
    return table;
}

std::vector<Contestant> contestants() {
    const auto plug_in = [](const char* file) {
        return DeviceSource{.name = file, .path = std::string(MX_PLUGINS "/") + file};
    };
    std::vector<Contestant> all{
        {"oracle",
         {.name = "oracle", .get_api = [](std::uint32_t) { return selftest::oracle_device_api(); }},
         make_quantize,
         "ocp"},
        {"minimal_plugin", plug_in("minimal_plugin.so"), make_quantize, "ocp"},
        {"kit_plugin", plug_in("kit_plugin.so"), make_quantize, "ocp"},
        {"kit_gemm_plugin", plug_in("kit_gemm_plugin.so"), make_gemm, ""},
        {"mutants", plug_in("mutants/mutants.so"), make_quantize, "ocp"},
        {"gemm_mutants", plug_in("mutants/gemm_mutants.so"), make_gemm, ""}};
    const DeviceRegistry registry = built_in_devices();
    for (const DeviceSource& source : registry.list()) {
        const auto make = source.name == "cublaslt" ? make_fp8_gemm
                          : source.name == "hopper" ? make_gemm
                                                    : make_quantize;
        all.push_back({source.name, source, make, "nv", place_of_device(source.name) != "host"});
    }
    all.push_back({"cpu_gemm", registry.resolve("cpu").value(), make_gemm, ""});
    return all;
}

class Contract : public ::testing::TestWithParam<Contestant> {
protected:
    void SetUp() override {
        api_ = table_of(GetParam().source);
        ASSERT_NE(api_, nullptr);
        char reason[200] = "";
        mx_message message{sizeof(mx_message), reason, sizeof reason};
        const mx_status status = api_->open(&device_, &message);
        is_open_ = status == MX_OK;
        // Only for want of a GPU, with a sentence that says so; `supports` answers all the same.
        const bool has_no_gpu = status == MX_NOT_SUPPORTED && reason[0] != '\0';
        ASSERT_TRUE(is_open_ || (has_no_gpu && GetParam().needs_gpu)) << reason;
        const char* required = std::getenv("MX_REQUIRE_GPU");
        // It speaks of an NVIDIA GPU.
        const bool may_stay_closed = GetParam().source.name == "hip";
        ASSERT_TRUE(is_open_ || may_stay_closed || required == nullptr || *required == '\0')
            << reason;
    }
    void TearDown() override {
        if (is_open_) api_->close(device_);
    }

    void make(GoodCall& call) const { GetParam().make(call, GetParam().dialect); }
    bool is_gemm() const { return GetParam().make != make_quantize; }

    mx_status ask(GoodCall& call, bool runs) const {
        mx_message message{sizeof(mx_message), call.text.data(), call.text.size()};
        call.text[0] = '\0';
        const auto function = runs ? api_->run : api_->supports;
        return function(device_, call.asked, call.inputs.data(), call.inputs.size(),
                        call.outputs.data(), call.outputs.size(), &message);
    }

    // A good call that `spoil` has spoiled is answered with that status and a sentence, by supports
    // and by run, and nothing is written.
    void expect(mx_status status, const std::string& what,
                const std::function<void(GoodCall&)>& spoil) const {
        for (const bool runs : {false, true}) {
            if (runs && !is_open_) continue;
            SCOPED_TRACE(GetParam().name + ": " + what + (runs ? ", run" : ", supports"));
            GoodCall call;
            make(call);
            spoil(call);
            EXPECT_EQ(ask(call, runs), status) << call.text.data();
            EXPECT_NE(call.text[0], '\0');
            EXPECT_TRUE(call.is_untouched());
        }
    }

    const mx_device_api* api_ = nullptr;
    void* device_ = nullptr;
    bool is_open_ = false;
};

TEST_P(Contract, TheGoodCallIsGood) {
    if (!is_open_) GTEST_SKIP() << "not run for want of a GPU";
    GoodCall call;
    make(call);
    EXPECT_EQ(ask(call, false), MX_OK) << call.text.data();
    EXPECT_TRUE(call.is_untouched());
    EXPECT_EQ(ask(call, true), MX_OK) << call.text.data();
    EXPECT_FALSE(call.is_untouched());
}

TEST_P(Contract, NamesThatItDoesNotKnowAreNotSupported) {
    expect(MX_NOT_SUPPORTED, "operation", [](GoodCall& c) { c.operation.name = "swizzle"; });
    expect(MX_NOT_SUPPORTED, "no operation", [](GoodCall& c) { c.operation.name = nullptr; });
    expect(MX_NOT_SUPPORTED, "place", [](GoodCall& c) { c.inputs[0].place = "moon"; });
    expect(MX_NOT_SUPPORTED, "no place", [](GoodCall& c) { c.outputs[0].place = nullptr; });
    expect(MX_NOT_SUPPORTED, "layout", [](GoodCall& c) { c.outputs[0].layout = "tiled"; });
    expect(MX_NOT_SUPPORTED, "no layout", [](GoodCall& c) { c.inputs[0].layout = nullptr; });
    expect(MX_NOT_SUPPORTED, "type", [](GoodCall& c) { c.inputs[0].type = "f8"; });
    expect(MX_NOT_SUPPORTED, "no type", [](GoodCall& c) { c.inputs[0].type = nullptr; });
    if (is_gemm()) {
        expect(MX_NOT_SUPPORTED, "epilogue", [](GoodCall& c) { c.gemm.epilogue = "silu"; });
        expect(MX_NOT_SUPPORTED, "scaling", [](GoodCall& c) { c.gemm.scaling_a = "2x2"; });
        // Which there are, a GPU's library says.
        if (is_open_)
            expect(MX_NOT_SUPPORTED, "algorithm", [](GoodCall& c) { c.gemm.algorithm = "slow"; });
        return;
    }
    expect(MX_NOT_SUPPORTED, "format", [](GoodCall& c) { c.operation.format = "mxfp5"; });
    expect(MX_NOT_SUPPORTED, "no format", [](GoodCall& c) { c.operation.format = nullptr; });
    expect(MX_NOT_SUPPORTED, "dialect", [](GoodCall& c) { c.operation.dialect = "ACME"; });
    expect(MX_NOT_SUPPORTED, "no dialect", [](GoodCall& c) { c.operation.dialect = nullptr; });
    expect(MX_NOT_SUPPORTED, "axis", [](GoodCall& c) { c.operation.axis = "diagonal"; });
    expect(MX_NOT_SUPPORTED, "no axis", [](GoodCall& c) { c.operation.axis = nullptr; });
}

// Blocks of 0 say that there are none.
TEST_P(Contract, BlocksThatAreNoneAreInvalid) {
    if (is_gemm()) return;
    expect(MX_INVALID, "0", [](GoodCall& c) { c.operation.block_size = 0; });
    expect(MX_INVALID, "-32", [](GoodCall& c) { c.operation.block_size = -32; });
}

TEST_P(Contract, StructsThatAreTooShortAreInvalid) {
    expect(MX_INVALID, "operation", [](GoodCall& c) { --c.operation.struct_size; });
    expect(MX_INVALID, "input", [](GoodCall& c) { c.inputs[0].struct_size = 8; });
    expect(MX_INVALID, "output", [](GoodCall& c) { c.outputs[0].struct_size = 0; });
    if (is_gemm()) expect(MX_INVALID, "gemm", [](GoodCall& c) { --c.gemm.struct_size; });
}

TEST_P(Contract, PointersThatAreNullAreInvalid) {
    expect(MX_INVALID, "operation", [](GoodCall& c) { c.asked = nullptr; });
    if (is_gemm()) expect(MX_INVALID, "gemm", [](GoodCall& c) { c.operation.gemm = nullptr; });
    GoodCall call;
    make(call);
    mx_message message{sizeof(mx_message), call.text.data(), call.text.size()};
    EXPECT_EQ(api_->supports(device_, &call.operation, nullptr, call.inputs.size(),
                             call.outputs.data(), call.outputs.size(), &message),
              MX_INVALID);
    if (!is_open_) return;
    EXPECT_EQ(api_->run(device_, &call.operation, call.inputs.data(), call.inputs.size(), nullptr,
                        call.outputs.size(), &message),
              MX_INVALID);
    for (const bool is_input : {true, false}) {
        GoodCall empty;
        make(empty);
        (is_input ? empty.inputs : empty.outputs)[0].data = nullptr;
        EXPECT_EQ(ask(empty, false), MX_OK) << empty.text.data();
        EXPECT_EQ(ask(empty, true), MX_INVALID) << empty.text.data();
        EXPECT_TRUE(empty.is_untouched());
    }
}

TEST_P(Contract, ShapesThatContradictThemselvesAreInvalid) {
    expect(MX_INVALID, "rows of D", [](GoodCall& c) { ++c.outputs[0].rows; });
    expect(MX_INVALID, "columns of D", [](GoodCall& c) { --c.outputs[0].columns; });
    expect(MX_INVALID, "rows below 0", [](GoodCall& c) { c.inputs[0].rows = -1; });
    expect(MX_INVALID, "an output more", [](GoodCall& c) { c.outputs.push_back(c.outputs[0]); });
    expect(MX_INVALID, "an input more", [](GoodCall& c) { c.inputs.push_back(c.inputs[0]); });
    expect(MX_INVALID, "an input less", [](GoodCall& c) { c.inputs.pop_back(); });
    if (!is_gemm()) {
        expect(MX_INVALID, "scales", [](GoodCall& c) { ++c.outputs[1].columns; });
        expect(MX_INVALID, "type of codes", [](GoodCall& c) { c.outputs[0].type = "e5m2"; });
        expect(MX_INVALID, "type of scales", [](GoodCall& c) { c.outputs[1].type = "f32"; });
        expect(MX_INVALID, "an output less", [](GoodCall& c) { c.outputs.pop_back(); });
        return;
    }
    expect(MX_INVALID, "scales", [](GoodCall& c) { ++c.inputs[1].columns; });
    expect(MX_INVALID, "K of B", [](GoodCall& c) { c.inputs[2].columns = 96; });
    expect(MX_INVALID, "batches", [](GoodCall& c) { c.gemm.batches = 0; });
}

// A message may be left out, cut, or of an older contract.
TEST_P(Contract, SentencesFitWhereTheyGo) {
    GoodCall call;
    make(call);
    call.operation.name = "an operation with a long name";
    const auto supports = [&](mx_message* message) {
        return api_->supports(device_, &call.operation, call.inputs.data(), call.inputs.size(),
                              call.outputs.data(), call.outputs.size(), message);
    };
    EXPECT_EQ(supports(nullptr), MX_NOT_SUPPORTED);
    char text[9] = "????????";
    mx_message message{sizeof(mx_message), text, 5};
    EXPECT_EQ(supports(&message), MX_NOT_SUPPORTED);
    EXPECT_EQ(text[4], '\0');
    EXPECT_EQ(text[5], '?');
    message.text = nullptr;
    EXPECT_EQ(supports(&message), MX_NOT_SUPPORTED);
}

TEST_P(Contract, TellsItsName) {
    if (!is_open_) GTEST_SKIP() << "not run for want of a GPU";
    const mx_fact* facts = nullptr;
    const std::size_t count = api_->describe(device_, &facts);
    ASSERT_GT(count, 0u);
    EXPECT_STREQ(facts[0].key, "name");
}

INSTANTIATE_TEST_SUITE_P(Devices, Contract, ::testing::ValuesIn(contestants()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace mx::cli
