// See device_choice.hpp.
#include "conformance/cli/device_choice.hpp"

#include <signal.h>

#include <filesystem>
#include <string_view>

#include "conformance/case/fields.hpp"
#include "conformance/cli/arguments.hpp"
#include "conformance/cli/environment.hpp"
#include "device/rtl/rtl_device.hpp"
#include "device/subprocess/subprocess_device.hpp"

namespace mx::cli {
namespace {

// A day; what no device needs, and far from overflow as milliseconds.
constexpr std::uint64_t timeout_seconds_max = 86400;

constexpr std::string_view stopping =
    "\nmxcheck: stopping after this case; interrupt again to stop at once\n";

// The planted bugs were a library each; what is written in old lines and texts is a device no more.
Error hint_at_planted_bug(const Error& error, const DeviceSource& source) {
    const std::filesystem::path path = source.path;
    const std::string file = path.stem().string();
    const std::size_t family = file.find('_');
    const std::string prefix = file.substr(0, family == std::string::npos ? 0 : family);
    const bool is_old = prefix == "mutant" || prefix == "gemm" || prefix == "gpu";
    std::error_code ignored;
    if (!is_old || std::filesystem::exists(path, ignored)) return error;
    const std::string library = (prefix == "mutant" ? "" : prefix + "_") + "mutants.so";
    return {error.kind, error.message + "; of the planted bugs, write --device " +
                            (path.parent_path() / library).string() +
                            ":bug=" + file.substr(family + 1)};
}

}  // namespace

std::vector<Option> options_of(DeviceChoice& choice, std::uint64_t& timeout_seconds) {
    return {
        {"--device",
         "built-in device (see list devices), path to a plug-in or rtl:DESIGN.toml, and :KEY=VALUE "
         "to configure it",
         &choice.device},
        {"--device-cmd",
         "a command that is a device behind a pipe, or unix:PATH, a socket where one listens",
         &choice.command},
        {"--timeout", "seconds that one call of the device may take", &timeout_seconds}};
}

const std::string& shown_name(const DeviceChoice& choice) {
    return choice.command.empty() ? choice.device : choice.command;
}

Expected<DeviceSource> device_source(const DeviceChoice& choice) {
    if (choice.command.empty())
        return is_design(choice.device) ? design_device(choice.device, cache_folder() + "/rtl")
                                        : built_in_devices().resolve(choice.device);
    if (choice.device != DeviceChoice().device)
        return bad_input("--device '" + choice.device +
                         "' and --device-cmd are two devices; name one");
    return command_device(choice.command);
}

Expected<Client> open_device(const DeviceChoice& choice, std::uint64_t timeout_seconds) {
    if (timeout_seconds == 0 || timeout_seconds > timeout_seconds_max)
        return bad_input("--timeout '" + std::to_string(timeout_seconds) + "' is not from 1 to " +
                         std::to_string(timeout_seconds_max) + " seconds");
    const auto source = device_source(choice);
    if (!source) return source.error();
    const auto timeout = std::chrono::seconds(timeout_seconds);
    auto client = open_client(source.value(), {.call = timeout, .open = timeout});
    if (!client) return hint_at_planted_bug(client.error(), source.value());
    return client;
}

std::string device_argument(const DeviceChoice& choice) {
    if (!choice.command.empty()) return " --device-cmd " + shell_quoted(choice.command);
    const std::string& name = choice.device;
    if (name == DeviceChoice().device) return "";
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-:=,";
    if (name.find_first_not_of(plain) == std::string::npos) return " --device " + name;
    return " --device " + shell_quoted(name);
}

int closed(const Client& client, int code) {
    const Status ended = client.close();
    if (ended) return code;
    complain(ended.error().message);
    return code == exit_self_test ? code : exit_device;
}

int fail_with(const Error& error) {
    complain(error.message);
    if (error.kind == ErrorKind::oracle) return exit_self_test;
    return error.kind == ErrorKind::device ? exit_device : exit_usage;
}

void outlive_readers() {
    ::signal(SIGPIPE, SIG_IGN);
}

void catch_interrupts() {
    session::catch_interrupts(stopping);
}

}  // namespace mx::cli
