// The text buffer lent to a plug-in for one call, and what the plug-in did to it.
// Used by Device only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "device/abi/mx_device.h"
#include "reference/base/text.hpp"

namespace mx {

class MessageBuffer {
public:
    MessageBuffer() { std::fill(slack_begin(), bytes_.end(), slack_byte); }
    MessageBuffer(const MessageBuffer&) = delete;
    MessageBuffer& operator=(const MessageBuffer&) = delete;

    mx_message* argument() { return &message_; }

    // The sentence, ended at the buffer's end when the plug-in forgot the NUL; printable.
    std::string text() const {
        const char* end = std::find(bytes_.data(), bytes_.data() + capacity, '\0');
        return printable(
            std::string_view(bytes_.data(), static_cast<std::size_t>(end - bytes_.data())));
    }

    bool was_overrun() const {
        const auto touched = [](char byte) { return byte != slack_byte; };
        return std::any_of(bytes_.begin() + capacity, bytes_.end(), touched);
    }

private:
    static constexpr std::size_t capacity = 1024;
    static constexpr std::size_t slack = 256;  // takes the overrun of a plug-in and shows it
    static constexpr char slack_byte = '\x6B';

    std::array<char, capacity + slack>::iterator slack_begin() { return bytes_.begin() + capacity; }

    std::array<char, capacity + slack> bytes_{};
    mx_message message_{sizeof(mx_message), bytes_.data(), capacity};
};

}  // namespace mx
