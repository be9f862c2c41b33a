// Files that are no plug-in, each with its sentence.
#include "device/host/shared_library.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "device/host/test/plugin_under_test.hpp"
#include "device/host/test/temporary_file.hpp"

namespace mx {
namespace {

TEST(SharedLibrary, APluginHasTheEntry) {
    const Expected<SharedLibrary> library =
        SharedLibrary::open(test::plugin_path("test_plugin_none"));
    ASSERT_TRUE(library.ok()) << library.error().message;
    ASSERT_TRUE(library.value().entry().ok());
    EXPECT_NE(library.value().entry().value()(MX_DEVICE_ABI_VERSION), nullptr);
}

TEST(SharedLibrary, NoSuchFileIsBadInput) {
    const Error error = SharedLibrary::open("./nowhere.so").error();
    EXPECT_EQ(error.kind, ErrorKind::bad_input);
    EXPECT_EQ(error.message, "device \"./nowhere.so\" does not exist");
    EXPECT_EQ(SharedLibrary::open("/").error().message, "device \"/\" is not a file");
    const Error inside_a_file = SharedLibrary::open("/dev/null/x.so").error();
    EXPECT_EQ(inside_a_file.message, "device \"/dev/null/x.so\" cannot be read: Not a directory");
}

TEST(SharedLibrary, TextIsNoLibrary) {
    for (const char* content : {"#!/bin/sh\necho hello\n", ""}) {
        const test::TemporaryFile file(content);
        const Error error = SharedLibrary::open(file.path()).error();
        EXPECT_EQ(error.kind, ErrorKind::device);
        EXPECT_EQ(error.message,
                  "device \"" + file.path() + "\" is not a shared library: it has no ELF header");
    }
}

TEST(SharedLibrary, ATruncatedLibraryCannotBeLoaded) {
    if (std::getenv("MX_EMULATED") != nullptr)
        GTEST_SKIP() << "an emulated loader ends in SIGBUS beyond the end of a file";
    std::ifstream whole(test::plugin_path("test_plugin_none"), std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(whole)), {});
    ASSERT_GT(content.size(), 500u);
    const test::TemporaryFile file(content.substr(0, 500));
    const Error error = SharedLibrary::open(file.path()).error();
    EXPECT_EQ(error.kind, ErrorKind::device);
    EXPECT_NE(error.message.find("cannot be loaded: "), std::string::npos) << error.message;
}

TEST(SharedLibrary, ALibraryWithoutTheSymbolIsNoDevice) {
    const std::string path = test::plugin_path("test_no_plugin");
    const Expected<SharedLibrary> library = SharedLibrary::open(path);
    ASSERT_TRUE(library.ok()) << library.error().message;
    EXPECT_EQ(library.value().entry().error().message,
              "device \"" + path +
                  "\" is no mxcheck device plug-in: it exports no function "
                  "mx_device_get_api");
}

}  // namespace
}  // namespace mx
