// See build.hpp.
#include "conformance/library/build.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "mx_version.hpp"
#include "reference/self_check/oracle_check.hpp"

namespace mx::library {

const char* build_json() {
    static const std::string text = nlohmann::ordered_json{
        {"version", MX_VERSION},
        {"commit", MX_COMMIT},
        {"dirty", MX_DIRTY},
        {"build_type", MX_BUILD_TYPE},
        {"compiler",
         oracle_built_by}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return text.c_str();
}

}  // namespace mx::library
