// What commands that talk to a device share: the options that name it, opening it, Ctrl-C.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/cli/arguments.hpp"
#include "conformance/session/interrupt.hpp"
#include "device/host/client.hpp"

namespace mx::cli {

// What the user named: a device, or a command that is one.
struct DeviceChoice {
    std::string device = "cpu";
    std::string command = {};  // of --device-cmd, "" without
};

// The options of the command line that fill them; both must outlive the options.
std::vector<Option> options_of(DeviceChoice& choice, std::uint64_t& timeout_seconds);

// What reports call it: the name, the path or the command.
const std::string& shown_name(const DeviceChoice& choice);

// What there is to open, or why not.
Expected<DeviceSource> device_source(const DeviceChoice& choice);

// Opens it in a process of its own.
Expected<Client> open_device(const DeviceChoice& choice, std::uint64_t timeout_seconds);

// " --device NAME" or " --device-cmd 'COMMAND'" as repro lines need it, quoted for a shell; "" for
// the default.
std::string device_argument(const DeviceChoice& choice);

// Closes a device at the end of a command. Returns `code`, or 3 with a sentence where the device
// crashes or hangs and nothing worse was found.
int closed(const Client& client, int code);

// Says what was wrong, and returns the exit code for it.
int fail_with(const Error& error);

// From here on, the first Ctrl-C (or SIGTERM) only sets a flag; a second one ends the program.
void catch_interrupts();

// Who reads what is printed may go, as head does; the record of a run is written to its end all the
// same. That the output is lost, the end of the program says.
void outlive_readers();
using session::interrupted;

}  // namespace mx::cli
