// Files and tables that cannot be started, through the child process: kind of error and sentence.
#include <gtest/gtest.h>

#include <iterator>

#include "device/host/isolated_device.hpp"
#include "device/host/test/plugin_under_test.hpp"
#include "device/host/test/temporary_file.hpp"

namespace mx {
namespace {

DeviceSource file(const std::string& path) {
    DeviceSource source;
    source.name = path;
    source.path = path;
    return source;
}

std::string start_error(const DeviceSource& source, ErrorKind kind, const Limits& limits = {}) {
    const Expected<IsolatedDevice> device = IsolatedDevice::start(source, limits);
    if (device.ok()) return "opened";
    EXPECT_EQ(device.error().kind, kind);
    const std::string prefix = "device \"" + source.path + "\" ";
    EXPECT_EQ(device.error().message.substr(0, prefix.size()), prefix);
    return device.error().message.substr(prefix.size());
}

std::string plugin_error(std::string_view flaw) {
    return start_error(test::plugin(flaw), ErrorKind::device);
}

TEST(IsolatedOpen, FilesThatAreNoPlugin) {
    EXPECT_EQ(start_error(file("./nowhere.so"), ErrorKind::bad_input), "does not exist");
    const test::TemporaryFile text("hello\n");
    EXPECT_EQ(start_error(file(text.path()), ErrorKind::device),
              "is not a shared library: it has no ELF header");
    EXPECT_EQ(start_error(file(test::plugin_path("test_no_plugin")), ErrorKind::device),
              "is no mxcheck device plug-in: it exports no function mx_device_get_api");
}

TEST(IsolatedOpen, TablesOfAnotherVersion) {
    EXPECT_EQ(plugin_error("null_table"),
              "refuses device ABI versions 1 to 7, which this "
              "mxcheck speaks, and serves no other up to version 16");
    EXPECT_EQ(plugin_error("other_abi_only"),
              "serves device ABI version 8, this mxcheck speaks versions 1 to 7");
    EXPECT_EQ(plugin_error("other_abi_table"),
              "was built for device ABI version 8, this mxcheck speaks versions 1 to 7");
    EXPECT_EQ(plugin_error("missing_run"), "returned a table without the function run");
}

TEST(IsolatedOpen, DevicesThatDoNotOpen) {
    EXPECT_EQ(plugin_error("segfault_in_open"),
              "did not open: killed by signal 11 (Segmentation fault) in open");
    const Limits impatient{.open = std::chrono::milliseconds(200)};
    EXPECT_EQ(start_error(test::plugin("hang_in_open"), ErrorKind::device, impatient),
              "did not open: no answer within 200 ms in open");
    EXPECT_EQ(plugin_error("failed_open"), "did not open: MX_FAILED, the unit is asleep");
    EXPECT_EQ(plugin_error("throw_in_open"),
              "did not open: MX_FAILED, open threw a C++ exception across the C ABI: no such unit");
}

TEST(IsolatedOpen, APathWithoutASlashIsInTheCurrentFolder) {
    std::ifstream whole(test::plugin_path("test_plugin_none"), std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(whole)), {});
    const test::TemporaryFile here(content);
    ASSERT_EQ(here.path().find('/'), std::string::npos);
    EXPECT_TRUE(IsolatedDevice::start(file(here.path())).ok());
}

}  // namespace
}  // namespace mx
