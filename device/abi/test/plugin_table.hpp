// The table of a plug-in, for the plug-in's own tests: no host in between.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <cstdint>

#include "device/abi/mx_device.h"

namespace mx {

// NULL where the library does not load, which fails the test. It stays loaded for the whole
// program: the runtime of a GPU inside does not like to go.
inline const mx_device_api* plugin_table(const char* path, std::uint32_t version) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        ADD_FAILURE() << dlerror();
        return nullptr;
    }
    const auto get_api =
        reinterpret_cast<mx_device_get_api_function>(dlsym(library, MX_DEVICE_ENTRY));
    return get_api == nullptr ? nullptr : get_api(version);
}

}  // namespace mx
