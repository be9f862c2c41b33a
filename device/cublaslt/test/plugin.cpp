// See plugin.hpp.
#include "device/cublaslt/test/plugin.hpp"

#include <cstdlib>
#include <string_view>

#include "device/abi/test/plugin_table.hpp"

namespace mx::cublaslt::test {

// The environment may name another file than the build's, for a machine that did not build.
const mx_device_api* table_of(std::uint32_t version) {
    const char* other = std::getenv("MX_CUBLASLT_PLUGIN_FILE");
    return plugin_table(other != nullptr ? other : MX_CUBLASLT_PLUGIN, version);
}

bool must_have_gpu() {
    const char* wish = std::getenv("MX_REQUIRE_GPU");
    return wish != nullptr && *wish != '\0';
}

void OnGpu::SetUp() {
    const mx_device_api* table = table_of(MX_DEVICE_ABI_VERSION);
    ASSERT_NE(table, nullptr);
    Message message;
    if (table->open(&device_, &message.message) != MX_OK) {
        if (must_have_gpu())
            FAIL() << "MX_REQUIRE_GPU is set, and a GPU is missing: " << message.text.data();
        GTEST_SKIP() << "skipped for want of a GPU: " << message.text.data();
    }
    is_open_ = true;
    const mx_fact* facts = nullptr;
    const std::size_t count = table->describe(device_, &facts);
    for (std::size_t i = 0; i < count; ++i)
        if (std::string_view(facts[i].key) == "isa") capability_ = std::atoi(facts[i].value + 3);
    ASSERT_GT(capability_, 0);
}

void OnGpu::TearDown() {
    if (is_open_) table_of(MX_DEVICE_ABI_VERSION)->close(device_);
}

Answer OnGpu::supports(const Asked& asked) {
    GemmCall made = call_of(asked);
    const Call call = made.call();
    Message message;
    const mx_status status = table_of(MX_DEVICE_ABI_VERSION)
                                 ->supports(device_, call.operation, call.inputs, call.input_count,
                                            call.outputs, call.output_count, &message.message);
    return {status, message.text.data()};
}

Answer OnGpu::run(GemmCall& made) {
    const Call call = made.call();
    Message message;
    const mx_status status = table_of(MX_DEVICE_ABI_VERSION)
                                 ->run(device_, call.operation, call.inputs, call.input_count,
                                       call.outputs, call.output_count, &message.message);
    return {status, message.text.data()};
}

std::vector<std::string> OnGpu::algorithms(const Asked& asked) {
    GemmCall made = call_of(asked);
    const Call call = made.call();
    Message message;
    const char* const* names = nullptr;
    std::size_t count = 0;
    const mx_status status =
        table_of(MX_DEVICE_ABI_VERSION)
            ->list_algorithms(device_, call.operation, call.inputs, call.input_count, call.outputs,
                              call.output_count, &names, &count, &message.message);
    EXPECT_EQ(status, MX_OK) << message.text.data();
    return status == MX_OK ? std::vector<std::string>(names, names + count)
                           : std::vector<std::string>();
}

}  // namespace mx::cublaslt::test
