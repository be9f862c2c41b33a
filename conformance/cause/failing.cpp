// See failing.hpp.
#include "conformance/cause/failing.hpp"

#include <algorithm>
#include <cctype>

#include "conformance/cause/again.hpp"

namespace mx::cause {
namespace {

std::vector<std::string> parts_of(const std::string& explanation) {
    const std::string plus = " + ";
    const std::size_t at = explanation.find(plus);
    if (at == std::string::npos) return {explanation};
    return {explanation.substr(0, at), explanation.substr(at + plus.size())};
}

}  // namespace

std::string without_numbers(const std::string& text) {
    std::string plain;
    for (const char letter : text) {
        const bool is_digit = std::isdigit(static_cast<unsigned char>(letter)) != 0;
        if (!is_digit) plain += letter;
        if (is_digit && (plain.empty() || plain.back() != '#')) plain += '#';
    }
    return plain;
}

void add_explanation(const std::string& explanation, Failing& failing) {
    if (is_of_gemm(explanation)) {
        failing.alone.insert(explanation);
        failing.alone.insert(without_numbers(explanation));
        return;
    }
    const std::vector<std::string> parts = parts_of(explanation);
    if (parts.size() > 1) {
        failing.explanations.push_back(parts);
        return;
    }
    const std::size_t at = explanation.find('@');
    if (at == std::string::npos) {
        failing.alone.insert(explanation);
        return;
    }
    for (std::size_t from = at + 1; from <= explanation.size();) {
        const std::size_t end = std::min(explanation.find(',', from), explanation.size());
        failing.alone.insert(explanation.substr(0, at + 1) + explanation.substr(from, end - from));
        from = end + 1;
    }
}

bool is_of_gemms(const Failing& failing) {
    return failing.result->operation == "gemm";
}

}  // namespace mx::cause
