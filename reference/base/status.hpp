// Errors at the edges of the program (argv, files, plug-ins): a sentence the user can act on.
// Used by every room but reference/, which stops with MX_ASSERT instead of returning errors.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace mx {

// Which exit code an error leads to.
enum class ErrorKind {
    bad_input,  // exit 2: the user's argument or file is wrong
    device,     // exit 3: the device could not be opened, crashed, hung or was lost
    system,     // exit 2: disk full, permission denied, out of memory
    oracle,     // exit 5: this build answers wrongly, whatever was asked
};

// One sentence, starting with what was wrong and where; no trailing newline.
struct Error {
    ErrorKind kind = ErrorKind::bad_input;
    std::string message;
};

inline Error bad_input(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

// A value or an Error. Ask ok() first; value() of an error and error() of a value throw
// std::bad_variant_access, which is a bug in the caller.
template <typename T>
class [[nodiscard]] Expected {
public:
    Expected(T value) : state_(std::move(value)) {}
    Expected(Error error) : state_(std::move(error)) {}

    bool ok() const { return std::holds_alternative<T>(state_); }
    explicit operator bool() const { return ok(); }

    T& value() & { return std::get<T>(state_); }
    const T& value() const& { return std::get<T>(state_); }
    // By value: a loop over `f().value().rows` keeps what it walks.
    T value() && { return std::get<T>(std::move(state_)); }
    const Error& error() const { return std::get<Error>(state_); }

private:
    std::variant<T, Error> state_;
};

// The Expected of a function that returns nothing.
using Status = Expected<std::monostate>;
inline Status success() {
    return std::monostate{};
}

}  // namespace mx
