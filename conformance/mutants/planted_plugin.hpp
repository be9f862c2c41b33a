// A library of planted bugs as its tests open it: by path, with one bug switched on.
#pragma once

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "device/abi/mx_device.h"

namespace mx::mutants {

// A bug of a library; api is nullptr where the library cannot be loaded, which stays loaded.
struct Planted {
    const mx_device_api* api = nullptr;
    std::string configuration = {};
};

inline Planted planted_bug(const char* library_path, std::string_view bug) {
    void* library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    const auto get_api =
        reinterpret_cast<mx_device_get_api_function>(dlsym(library, MX_DEVICE_ENTRY));
    if (get_api == nullptr || get_api(MX_DEVICE_ABI_VERSION + 1) != nullptr) return {};
    return {get_api(MX_DEVICE_ABI_VERSION), "bug=" + std::string(bug)};
}

class OpenBug {
public:
    explicit OpenBug(const Planted& planted)
        : api_(*planted.api),
          status_(api_.open_configured(&handle_, planted.configuration.c_str(), nullptr)) {}
    OpenBug(const OpenBug&) = delete;
    OpenBug& operator=(const OpenBug&) = delete;
    ~OpenBug() {
        if (status_ == MX_OK) api_.close(handle_);
    }

    mx_status status() const { return status_; }
    void* handle() const { return handle_; }

private:
    const mx_device_api& api_;
    void* handle_ = nullptr;
    mx_status status_;
};

}  // namespace mx::mutants
