// An open file that closes itself. Used by the results file reader and writer; knows nothing of
// what the file holds.
#pragma once

#include <unistd.h>

#include <utility>

namespace mx::results {

class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int number) : number_(number) {}
    FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, none)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~FileDescriptor() {
        if (is_open()) ::close(number_);
    }

    bool is_open() const { return number_ != none; }
    int number() const { return number_; }
    // For those who must know whether closing went well.
    int release() { return std::exchange(number_, none); }

private:
    static constexpr int none = -1;
    int number_ = none;
};

}  // namespace mx::results
