// Names, paths and misspelt names.
#include "device/host/device_registry.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace mx {
namespace {

const mx_device_api* no_table(std::uint32_t) {
    return nullptr;
}

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

// Behind a name or a path, and never in the middle of a file that exists.
TEST(DeviceRegistry, AConfigurationFollowsTheDevice) {
    const DeviceRegistry registry = two_devices();
    const DeviceSource cpu = registry.resolve("cpu:threads=2").value();
    EXPECT_EQ(cpu.get_api, &no_table);
    EXPECT_EQ(cpu.configuration, "threads=2");
    const DeviceSource file = registry.resolve("lib/mine.so:image=/a/b:c=d,unit=1").value();
    EXPECT_EQ(file.path, "lib/mine.so");
    EXPECT_EQ(file.configuration, "image=/a/b:c=d,unit=1");
    EXPECT_EQ(file.name, "mine.so:image=/a/b:c=d,unit=1");
    for (const char* path : {"./mine.so", "a:b/mine.so", "./mine.so:", "./mine.so:=1"}) {
        const DeviceSource source = registry.resolve(path).value();
        EXPECT_EQ(source.path, path);
        EXPECT_EQ(source.configuration, "");
    }
}

TEST(DeviceRegistry, AFileWithAColonStaysWhole) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("a:b=" + std::to_string(getpid()));
    fs::create_directories(folder);
    const std::string path = (folder / "mine:x=1.so").string();
    std::ofstream(path) << "not empty";
    const DeviceRegistry registry = two_devices();
    EXPECT_EQ(registry.resolve(path).value().path, path);
    EXPECT_EQ(registry.resolve(path).value().configuration, "");
    EXPECT_EQ(registry.resolve(path + ":y=2").value().path, path);
    EXPECT_EQ(registry.resolve(path + ":y=2").value().configuration, "y=2");
    fs::remove_all(folder);
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
