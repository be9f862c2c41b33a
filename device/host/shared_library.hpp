// A loaded plug-in file. Used by Device only; knows nothing of the table behind the symbol.
#pragma once

#include <memory>
#include <string>

#include "device/abi/mx_device.h"
#include "reference/base/status.hpp"

namespace mx {

// Loading runs the file's own start-up code: do it in a process that may crash.
class SharedLibrary {
public:
    // No such file is the user's bad input; a file that cannot be loaded is a device error.
    static Expected<SharedLibrary> open(const std::string& path);

    // The exported function every device has, or a sentence that this file is no device.
    Expected<mx_device_get_api_function> entry() const;

    // What else it exports; nullptr where it does not.
    void* symbol(const char* name) const;

private:
    struct Close {
        void operator()(void* handle) const;
    };

    SharedLibrary(void* handle, std::string path);

    std::unique_ptr<void, Close> handle_;
    std::string path_;
};

}  // namespace mx
