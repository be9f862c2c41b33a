// Names, paths and misspelt names.
#include "device/host/device_registry.hpp"

#include <gtest/gtest.h>

namespace mx {
namespace {

const mx_device_api* no_table(std::uint32_t) { return nullptr; }

DeviceRegistry two_devices() {
    DeviceRegistry registry;
    registry.add({"cpu", "our own", no_table});
    registry.add({"nvhost", "the vendor's", no_table});
    return registry;
}

TEST(DeviceRegistry, NamesAndPaths) {
    const DeviceRegistry registry = two_devices();
    const DeviceSource cpu = registry.resolve("cpu").value();
    EXPECT_EQ(cpu.get_api, &no_table);
    EXPECT_EQ(cpu.path, "");
    for (const char* path : {"./mine.so", "mine.so", "/opt/cpu", "folder/mine.dll"}) {
        const DeviceSource source = registry.resolve(path).value();
        EXPECT_EQ(source.path, path);
        EXPECT_EQ(source.get_api, nullptr);
    }
    EXPECT_EQ(registry.resolve("../build/mine.so").value().name, "mine.so");
    EXPECT_EQ(registry.resolve("mine.so").value().name, "mine.so");
}

TEST(DeviceRegistry, UnknownNameGetsTheNearest) {
    const Error error = two_devices().resolve("nvhst").error();
    EXPECT_EQ(error.kind, ErrorKind::bad_input);
    EXPECT_EQ(error.message,
              "there is no device \"nvhst\"; did you mean \"nvhost\"? Built-in devices: cpu nvhost."
              " A plug-in is given by its path, for example ./mine.so");
    EXPECT_EQ(two_devices().resolve("").error().message.find("did you mean"), std::string::npos);
}

TEST(DeviceRegistry, TheSecondOfANameReplacesTheFirst) {
    DeviceRegistry registry = two_devices();
    registry.add({"cpu", "another", no_table});
    ASSERT_EQ(registry.list().size(), 2u);
    EXPECT_EQ(registry.list()[0].description, "another");
}

}  // namespace
}  // namespace mx
