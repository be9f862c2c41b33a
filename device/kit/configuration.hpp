// The text that a user wrote behind a device's name, "KEY=VALUE,KEY=VALUE", for a device to ask by
// key. What nobody asked for is refused with the keys that somebody did ask for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/kit/names.hpp"
#include "device/kit/refusal.hpp"

namespace mx::kit {

class Configuration {
public:
    Configuration() = default;
    explicit Configuration(std::string_view text) {
        while (!text.empty()) {
            const std::string_view pair = text.substr(0, text.find(','));
            const std::size_t equals = pair.find('=');
            if (equals == std::string_view::npos || equals == 0)
                invalid("configuration " + in_double_quotes(pair) + " is not KEY=VALUE");
            add({std::string(pair.substr(0, equals)), std::string(pair.substr(equals + 1))});
            text.remove_prefix(pair.size() == text.size() ? pair.size() : pair.size() + 1);
        }
    }

    // The value of that key; `otherwise` where it is not given.
    std::string value(std::string_view key, std::string_view otherwise) {
        known_ += (known_.empty() ? "" : ", ") + std::string(key);
        for (Pair& pair : pairs_) {
            if (pair.key != key) continue;
            pair.is_asked = true;
            return pair.value;
        }
        return std::string(otherwise);
    }

    // Once all keys have been asked for.
    void refuse_others() const {
        for (const Pair& pair : pairs_)
            if (!pair.is_asked)
                invalid("there is nothing called " + in_double_quotes(pair.key) + " to configure" +
                        (known_.empty() ? "" : "; this device knows " + known_));
    }

private:
    struct Pair {
        std::string key, value;
        bool is_asked = false;
    };

    void add(Pair pair) {
        for (const Pair& known : pairs_)
            if (known.key == pair.key)
                invalid("configuration " + in_double_quotes(pair.key) + " twice");
        pairs_.push_back(std::move(pair));
    }

    std::vector<Pair> pairs_;
    std::string known_;
};

}  // namespace mx::kit
