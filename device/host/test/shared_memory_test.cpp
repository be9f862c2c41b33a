// Growth keeps content; the pages beside the memory end whoever touches them.
#include "device/host/shared_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <limits>

namespace mx {
namespace {

TEST(SharedMemory, GrowsAndKeepsContent) {
    SharedMemory memory = SharedMemory::create().value();
    ASSERT_TRUE(memory.grow(10).ok());
    ASSERT_GE(memory.bytes().size(), 10u);
    memory.bytes()[9] = std::byte{42};
    ASSERT_TRUE(memory.grow(std::size_t{5} << 20).ok());
    ASSERT_GE(memory.bytes().size(), std::size_t{5} << 20);
    EXPECT_EQ(memory.bytes()[9], std::byte{42});
    memory.bytes().back() = std::byte{1};
    const std::size_t size = memory.bytes().size();
    ASSERT_TRUE(memory.grow(1).ok());
    EXPECT_EQ(memory.bytes().size(), size);
}

TEST(SharedMemory, MoreThanTheMachineHasIsASentence) {
    SharedMemory memory = SharedMemory::create().value();
    for (const std::size_t size : {std::size_t{1} << 60, std::numeric_limits<std::size_t>::max()}) {
        const Status grown = memory.grow(size);
        ASSERT_FALSE(grown.ok());
        EXPECT_EQ(grown.error().kind, ErrorKind::system);
    }
}

TEST(SharedMemory, CannotBeCutOff) {
    SharedMemory memory = SharedMemory::create().value();
    ASSERT_TRUE(memory.grow(10).ok());
    EXPECT_NE(::ftruncate(memory.descriptor(), 0), 0);
}

TEST(SharedMemoryDeathTest, HasAGuardPageAtEitherEnd) {
    SharedMemory memory = SharedMemory::create().value();
    ASSERT_TRUE(memory.grow(10).ok());
    volatile std::byte* begin = memory.bytes().data();
    volatile std::byte* end = begin + memory.bytes().size();
    EXPECT_DEATH(*end = std::byte{1}, "");
    EXPECT_DEATH(*(begin - 1) = std::byte{1}, "");
}

// In a process of its own, for it closes a stream.
TEST(SharedMemory, NeverTakesThePlaceOfAClosedStream) {
    const auto descriptor_without = [](int stream) {
        ::close(stream);
        const Expected<SharedMemory> memory = SharedMemory::create();
        ::_exit(memory ? memory.value().descriptor() : 0);
    };
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        const pid_t child = ::fork();
        if (child == 0) descriptor_without(stream);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status));
        EXPECT_GT(WEXITSTATUS(status), STDERR_FILENO) << "without stream " << stream;
    }
}

}  // namespace
}  // namespace mx
