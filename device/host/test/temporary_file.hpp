// A file that goes with the test that made it. Shared by the tests of device/host.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>

namespace mx::test {

class TemporaryFile {
public:
    explicit TemporaryFile(std::string_view content) {
        const int descriptor = ::mkstemp(path_.data());
        if (descriptor >= 0) ::close(descriptor);
        std::ofstream(path_, std::ios::binary) << content;
    }
    TemporaryFile(const TemporaryFile&) = delete;
    ~TemporaryFile() { ::unlink(path_.c_str()); }

    const std::string& path() const { return path_; }
    std::streamoff size() const {
        return std::ifstream(path_, std::ios::binary | std::ios::ate).tellg();
    }

private:
    std::string path_ = "temporary_test_file_XXXXXX";
};

}  // namespace mx::test
