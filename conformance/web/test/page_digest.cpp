// Prints what `mx_digest` of the page's module answers, by this build: page_digest FIRST COUNT.
#include <cstdio>
#include <cstdlib>

#include "conformance/web/explain_entry.hpp"

int main(int count, char** arguments) {
    if (count < 3) return 2;
    const auto number = [&](int at) {
        return static_cast<std::uint32_t>(std::strtoul(arguments[at], nullptr, 10));
    };
    std::puts(mx::web::digest_of_blocks(number(1), number(2)).c_str());
    return 0;
}
