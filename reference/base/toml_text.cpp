// See toml_text.hpp.
#include "reference/base/toml_text.hpp"

#include <algorithm>
#include <string>

namespace mx {
namespace {

class StrayCharacter {
public:
    explicit StrayCharacter(std::string_view text) : text_(text) {}

    // npos when there is none.
    std::size_t find() {
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
        if (stands(byte_order_mark)) at_ = byte_order_mark.size();
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (is_beyond_ascii()) return at_;
            if (c == '#')
                at_ = text_.find('\n', at_);
            else if (c == '"' || c == '\'')
                skip_text(c);
            else
                ++at_;
        }
        return text_.npos;
    }

private:
    bool stands(std::string_view what) const {
        return at_ < text_.size() && text_.substr(at_).starts_with(what);
    }
    bool is_beyond_ascii() const {
        return at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80;
    }

    // Ends behind the closing quote, or at a stray character that a backslash led to.
    void skip_text(char quote) {
        const std::string one(1, quote), three(3, quote);
        const bool many_lines = stands(three);
        const std::string& closing = many_lines ? three : one;
        at_ += closing.size();
        while (at_ < text_.size() && !stands(closing) && (many_lines || text_[at_] != '\n')) {
            if (text_[at_++] != '\\' || quote != '"') continue;
            const std::size_t escaped = at_;
            at_ = std::min(text_.find_first_not_of(" \t\r\n\v\f", at_), text_.size());
            if (is_beyond_ascii()) return;
            if (at_ == escaped) ++at_;
        }
        at_ += closing.size();
        // A text of many lines may end in one or two quotes of its own.
        for (int own = 0; own < 2 && many_lines && stands(one); ++own) ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::size_t stray_toml_character(std::string_view text) {
    return StrayCharacter(text).find();
}

}  // namespace mx
