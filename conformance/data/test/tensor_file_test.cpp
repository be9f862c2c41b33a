// Tests of reading and writing tensor files on disk: the choice of the container, and everything a
// file system can do to a path.
#include "conformance/data/tensor_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "conformance/data/test/file_bytes.hpp"

namespace mx::data {
namespace {

using test::expect_error;
using test::get;
using test::npy_text;
using test::put;
using test::safetensors_text;
using test::ScratchDirectory;
using test::to_bytes;

constexpr std::string_view one_byte = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}";

TensorFile small_file() {
    return {{{"x", "f32", {2}, to_bytes("abcdefgh")}}, {}};
}

TEST(TensorFiles, RoundTripOnDisk) {
    const ScratchDirectory scratch;
    for (const char* name : {"x.npy", "x.NPY", "x.safetensors"}) {
        const std::string path = scratch.at(name);
        const auto written = write_tensor_file(path, small_file());
        ASSERT_TRUE(written.ok()) << written.error().message;
        const auto back = read_tensor_file(path);
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(back.value(), small_file());
    }
    EXPECT_EQ(scratch.file_count(), 3u);
}

TEST(TensorFiles, ContainerByFirstBytesWhereTheNameDoesNotSay) {
    const ScratchDirectory scratch;
    put(scratch.at("npy"), npy_text(one_byte, "a"));
    put(scratch.at("st.bin"), safetensors_text("{}", ""));
    put(scratch.at("other.bin"), "neither");
    EXPECT_TRUE(read_tensor_file(scratch.at("npy")).ok());
    EXPECT_TRUE(read_tensor_file(scratch.at("st.bin")).ok());
    expect_error(read_tensor_file(scratch.at("other.bin")), scratch.at("other.bin"),
                 "unknown kind of tensor file '.bin'");
    put(scratch.at("x.safetensors"), npy_text(one_byte, "a"));
    expect_error(read_tensor_file(scratch.at("x.safetensors")), scratch.at("x.safetensors"),
                 "holds a .npy");
    put(scratch.at("x.npy"), safetensors_text("{}", ""));
    expect_error(read_tensor_file(scratch.at("x.npy")), scratch.at("x.npy"), "is no .npy");
    put(scratch.at("x.npz"), "PK\3\4 and more");
    expect_error(read_tensor_file(scratch.at("x.npz")), scratch.at("x.npz"), "no ZIP archive");
}

TEST(TensorFiles, TypeOverride) {
    const ScratchDirectory scratch;
    const std::string npy = scratch.at("x.npy");
    put(npy, npy_text(one_byte, "a"));
    const auto file = read_tensor_file(npy, {"e4m3"});
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(file.value().tensors.at(0).type, "e4m3");
    const std::string st = scratch.at("x.safetensors");
    put(st, safetensors_text("{}", ""));
    expect_error(read_tensor_file(st, {"e4m3"}), st, "names its own types");
}

TEST(TensorFiles, PathsThatCannotBeRead) {
    const ScratchDirectory scratch;
    expect_error(read_tensor_file(scratch.at("no.npy")), scratch.at("no.npy"), "No such file");
    expect_error(read_tensor_file("/dev/null"), "/dev/null", "is a device or pipe");
    ASSERT_EQ(::mkdir(scratch.at("d.npy").c_str(), 0777), 0);
    expect_error(read_tensor_file(scratch.at("d.npy")), scratch.at("d.npy"), "is a directory");
    ASSERT_EQ(::mkfifo(scratch.at("p.npy").c_str(), 0666), 0);
    expect_error(read_tensor_file(scratch.at("p.npy")), scratch.at("p.npy"), "device or pipe");
    EXPECT_FALSE(read_tensor_file("").ok());
    EXPECT_EQ(read_tensor_file(scratch.at("no.npy")).error().kind, ErrorKind::bad_input);
}

TEST(TensorFiles, NoPermission) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may read and write everything";
    const ScratchDirectory scratch;
    const std::string path = scratch.at("x.npy");
    ASSERT_TRUE(write_tensor_file(path, small_file()).ok());
    ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
    expect_error(write_tensor_file(path, small_file()), path, "Permission denied");
    ASSERT_EQ(::chmod(path.c_str(), 0), 0);
    const auto file = read_tensor_file(path);
    expect_error(file, path, "Permission denied");
    EXPECT_EQ(file.error().kind, ErrorKind::system);
}

// A sparse file of 2^42 bytes that tells the truth about itself: only memory stands in the way.
TEST(TensorFiles, LargerThanMemory) {
    const ScratchDirectory scratch;
    const std::string npy = scratch.at("x.npy"), st = scratch.at("x.safetensors");
    put(npy, npy_text("{'descr': '|u1', 'fortran_order': False, 'shape': (4398046511104,)}", ""));
    // Two halves: it is their sum that is asked for.
    put(st, safetensors_text(
                R"({"a":{"dtype":"U8","shape":[2199023255552],"data_offsets":[0,2199023255552]},)"
                R"("b":{"dtype":"U8","shape":[2199023255552],)"
                R"("data_offsets":[2199023255552,4398046511104]}})",
                ""));
    for (const std::string& path : {npy, st}) {
        const auto header = static_cast<off_t>(get(path).size());
        if (::truncate(path.c_str(), header + 4398046511104) != 0)
            GTEST_SKIP() << "this file system holds no sparse file of 4 TiB";
        const auto file = read_tensor_file(path);
        expect_error(file, path, "needs 4398046511104 bytes of memory, but this machine has ");
        EXPECT_EQ(file.error().kind, ErrorKind::system);
    }
}

TEST(TensorFiles, PathsThatCannotBeWritten) {
    const ScratchDirectory scratch;
    expect_error(write_tensor_file(scratch.at("full"), small_file()), scratch.at("full"),
                 "unknown kind of tensor file ''");
    expect_error(write_tensor_file(scratch.at("x.txt"), small_file()), scratch.at("x.txt"),
                 "unknown kind of tensor file '.txt'");
    expect_error(write_tensor_file(scratch.at("no/x.npy"), small_file()), scratch.at("no/x.npy"),
                 "No such file");
    expect_error(write_tensor_file(scratch.at("x.npy"), {}), scratch.at("x.npy"), "exactly one");
    ASSERT_EQ(::mkdir(scratch.at("d.npy").c_str(), 0777), 0);
    expect_error(write_tensor_file(scratch.at("d.npy"), small_file()), scratch.at("d.npy"),
                 "is a directory");
    // A pipe stands for /dev/full: were this broken, root would lose the real one.
    ASSERT_EQ(::mkfifo(scratch.at("pipe").c_str(), 0666), 0);
    ASSERT_EQ(::symlink("pipe", scratch.at("p.npy").c_str()), 0);
    expect_error(write_tensor_file(scratch.at("p.npy"), small_file()), scratch.at("p.npy"),
                 "is a device or pipe");
    EXPECT_EQ(scratch.file_count(), 3u);  // the directory, the pipe and the link
}

TEST(TensorFiles, ThroughASymbolicLink) {
    const ScratchDirectory scratch;
    put(scratch.at("real.npy"), "old");
    ASSERT_EQ(::symlink("real.npy", scratch.at("link.npy").c_str()), 0);
    ASSERT_TRUE(write_tensor_file(scratch.at("link.npy"), small_file()).ok());
    EXPECT_TRUE(std::filesystem::is_symlink(scratch.at("link.npy")));
    EXPECT_TRUE(read_tensor_file(scratch.at("real.npy")).ok());
}

// The kernel refuses to let any file grow beyond this, as a full disk would, halfway through.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST(TensorFiles, AFailedWriteLeavesTheOldFileAndNothingElse) {
    const ScratchDirectory scratch;
    const std::string path = scratch.at("x.npy");
    put(path, "old");
    const TensorFile large{{{"x", "u8", {100000}, std::vector<std::byte>(100000)}}, {}};
    {
        const FileSizeLimit limit(50000);
        const auto status = write_tensor_file(path, large);
        expect_error(status, path, "cannot write: File too large");
        EXPECT_EQ(status.error().kind, ErrorKind::system);
    }
    EXPECT_EQ(get(path), "old");
    EXPECT_EQ(scratch.file_count(), 1u);
    EXPECT_TRUE(write_tensor_file(path, large).ok());
    EXPECT_EQ(scratch.file_count(), 1u);
}

}  // namespace
}  // namespace mx::data
