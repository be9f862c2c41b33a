// dlopen, with sentences instead of linker messages where we know better. Used by Device only.
#include "device/host/shared_library.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "reference/base/text.hpp"

namespace mx {

namespace {

std::string quoted(const std::string& path) {
    return "device \"" + path + "\"";
}

bool starts_with_elf_magic(int descriptor) {
    std::array<char, 4> magic{};
    const ssize_t got = ::read(descriptor, magic.data(), magic.size());
    return got == 4 && std::string_view(magic.data(), magic.size()) == "\177ELF";
}

// dlopen reports every one of these as "cannot open" or "invalid ELF header".
Status check_file(const std::string& path) {
    const auto failure = [&](ErrorKind kind, const std::string& what) -> Status {
        return Error{kind, quoted(path) + " " + what};
    };
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) {
        if (errno == ENOENT) return failure(ErrorKind::bad_input, "does not exist");
        return failure(ErrorKind::bad_input,
                       std::string("cannot be read: ") + std::strerror(errno));
    }
    if (!S_ISREG(facts.st_mode)) return failure(ErrorKind::bad_input, "is not a file");
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return failure(ErrorKind::bad_input,
                       std::string("cannot be read: ") + std::strerror(errno));
    }
    const bool elf = starts_with_elf_magic(descriptor);
    ::close(descriptor);
    if (!elf) return failure(ErrorKind::device, "is not a shared library: it has no ELF header");
    return success();
}

}  // namespace

void SharedLibrary::Close::operator()(void* handle) const {
    ::dlclose(handle);
}

SharedLibrary::SharedLibrary(void* handle, std::string path)
    : handle_(handle), path_(std::move(path)) {}

Expected<SharedLibrary> SharedLibrary::open(const std::string& path) {
    if (const Status file = check_file(path); !file) return file.error();
    // Without a slash dlopen would search the system's folders and not the current one.
    const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
    void* handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* why = ::dlerror();
        return Error{ErrorKind::device, quoted(path) + " cannot be loaded: " +
                                            printable(why == nullptr ? "no reason given" : why)};
    }
    return SharedLibrary(handle, path);
}

Expected<mx_device_get_api_function> SharedLibrary::entry() const {
    void* found = symbol(MX_DEVICE_ENTRY);
    if (found == nullptr) {
        return Error{ErrorKind::device, quoted(path_) +
                                            " is no mxcheck device plug-in: it exports "
                                            "no function " MX_DEVICE_ENTRY};
    }
    return reinterpret_cast<mx_device_get_api_function>(found);
}

void* SharedLibrary::symbol(const char* name) const {
    return ::dlsym(handle_.get(), name);
}

}  // namespace mx
