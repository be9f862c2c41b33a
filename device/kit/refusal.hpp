// How a device says no: a status and one sentence, thrown anywhere inside a call and turned into
// the answer at its edge. Used by every header of the kit and by plug-ins.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "device/abi/mx_device.h"

namespace mx::kit {

struct Refusal {
    mx_status status;
    std::string reason;
};

// The request contradicts itself or the contract.
[[noreturn]] inline void invalid(std::string reason) {
    throw Refusal{MX_INVALID, std::move(reason)};
}
// This device does not do that.
[[noreturn]] inline void not_supported(std::string reason) {
    throw Refusal{MX_NOT_SUPPORTED, std::move(reason)};
}

// Stores the sentence as far as there is room for it; nothing where the host wants none.
inline void say(mx_message* message, std::string_view sentence) {
    if (message == nullptr || message->struct_size < sizeof(mx_message)) return;
    if (message->text == nullptr || message->capacity == 0) return;
    const std::size_t length = std::min(sentence.size(), message->capacity - 1);
    std::memcpy(message->text, sentence.data(), length);
    message->text[length] = '\0';
}

// Runs `work`, and turns what it throws into a status: nothing throws across the contract.
template <typename Work>
mx_status guarded(mx_message* message, Work work) noexcept {
    try {
        work();
        return MX_OK;
    } catch (const Refusal& refusal) {
        say(message, refusal.reason);
        return refusal.status;
    } catch (const std::bad_alloc&) {
        say(message, "out of memory");
        return MX_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        say(message, error.what());
        return MX_FAILED;
    }
}

}  // namespace mx::kit
