// A memfd and its mapping: see shared_memory.hpp. Used by IsolatedDevice; knows no tensors.
#include "device/host/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "device/host/child_setup.hpp"

namespace mx {

namespace {

std::size_t page_size() {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t physical_memory() {
    return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * page_size();
}

Error memory_error(std::size_t size) {
    return {ErrorKind::system, "cannot share " + std::to_string(size) +
                                   " bytes with the device's process: " + std::strerror(errno)};
}

// The first number of a file that is one number, or none: "max" is no limit.
std::optional<std::size_t> number_in(const char* path) {
    std::ifstream file(path);
    std::size_t number = 0;
    if (file >> number) return number;
    return std::nullopt;
}

}  // namespace

std::size_t available_memory() {
    std::size_t available = physical_memory();
    std::ifstream file("/proc/meminfo");
    for (std::string name; file >> name;) {
        std::size_t kibibytes = 0;
        if (name != "MemAvailable:") continue;
        if (file >> kibibytes) available = kibibytes * 1024;
        break;
    }
    const auto most = number_in("/sys/fs/cgroup/memory.max");
    const auto taken = number_in("/sys/fs/cgroup/memory.current");
    if (most && taken) available = std::min(available, *most - std::min(*taken, *most));
    return available;
}

Expected<SharedMemory> SharedMemory::create() {
    const int descriptor =
        beyond_standard_streams(::memfd_create("mxcheck tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (descriptor < 0) return memory_error(0);
    // Pages that a plug-in cut off would end us with SIGBUS.
    if (::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
        const Error error = memory_error(0);
        ::close(descriptor);
        return error;
    }
    return SharedMemory(descriptor);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      begin_(std::exchange(other.begin_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(begin_, other.begin_);
    std::swap(size_, other.size_);
    return *this;
}

SharedMemory::~SharedMemory() {
    unmap();
    if (descriptor_ >= 0) ::close(descriptor_);
}

void SharedMemory::unmap() {
    if (begin_ == nullptr) return;
    ::munmap(begin_ - page_size(), size_ + 2 * page_size());
    begin_ = nullptr;
    size_ = 0;
}

Status SharedMemory::grow(std::size_t size) {
    if (size <= size_) return success();
    // The kernel would grant any size here and end us when the pages are touched.
    if (size > physical_memory()) {
        return Error{ErrorKind::system, "the tensors need " + std::to_string(size) +
                                            " bytes, this machine has " +
                                            std::to_string(physical_memory())};
    }
    constexpr std::size_t step = std::size_t{1} << 20;  // few remaps while cases grow
    const std::size_t rounded = (size + step - 1) / step * step;
    if (::ftruncate(descriptor_, static_cast<off_t>(rounded)) != 0 || !map(rounded)) {
        return memory_error(rounded);
    }
    return success();
}

void SharedMemory::give_back() {
    if (size_ == 0) return;
    ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                static_cast<off_t>(size_));
}

bool SharedMemory::map(std::size_t size) {
    if (size == size_) return true;
    const std::size_t page = page_size();
    if (size % page != 0 || size > std::numeric_limits<std::size_t>::max() - 2 * page) return false;
    void* reserved = ::mmap(nullptr, size + 2 * page, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return false;
    std::byte* begin = static_cast<std::byte*>(reserved) + page;
    // Populated, as every page will be written: single page faults cost more than the work.
    if (::mmap(begin, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
               descriptor_, 0) == MAP_FAILED) {
        ::munmap(reserved, size + 2 * page);
        return false;
    }
    unmap();
    begin_ = begin;
    size_ = size;
    return true;
}

}  // namespace mx
