// Calls through the C table. Distrusts every answer but cannot survive a crash; see device.hpp.
// Used by the child process of IsolatedDevice and by the benchmarks.
#include "device/host/device.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "device/host/client.hpp"
#include "device/host/message_buffer.hpp"
#include "reference/base/text.hpp"

namespace mx {

namespace {

Error device_error(const DeviceSource& source, const std::string& what) {
    const std::string& shown = source.path.empty() ? source.name : source.path;
    return {ErrorKind::device, "device \"" + shown + "\" " + what};
}

// Runs one function of the table: `call` gets an mx_message* and returns the status.
template <typename Call>
CallResult guarded(const std::string& function, Call call) {
    MessageBuffer message;
    int status = MX_FAILED;
    try {
        status = static_cast<int>(call(message.argument()));
    } catch (const std::exception& exception) {
        return {MX_FAILED, function + " threw a C++ exception across the C ABI: " +
                               printable(exception.what())};
    } catch (...) {
        return {MX_FAILED, function + " threw a C++ exception across the C ABI"};
    }
    if (message.was_overrun()) {
        return {MX_FAILED, function + " wrote past the end of its message buffer"};
    }
    if (status < MX_OK || status > MX_FAILED) {
        const std::string said = message.text();
        return {MX_FAILED, function + " answered " + std::to_string(status) +
                               ", which is no mx_status" + (said.empty() ? "" : ": " + said)};
    }
    return {static_cast<mx_status>(status), message.text()};
}

const char* or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

// The C form of an operation: points into it, and into itself.
class AbiOperation {
public:
    explicit AbiOperation(const Operation& operation)
        : operation_{sizeof(mx_operation),           operation.name.c_str(),
                     or_null(operation.format),      or_null(operation.dialect),
                     or_null(operation.axis),        or_null(operation.rounding),
                     or_null(operation.overflow),    or_null(operation.subnormals),
                     operation.block_size,           nullptr,
                     or_null(operation.tensor_scale)} {
        if (!operation.gemm) return;
        const GemmOperation& gemm = *operation.gemm;
        gemm_ = {sizeof(mx_gemm),
                 gemm.batches,
                 gemm.alpha,
                 gemm.beta,
                 or_null(gemm.scaling_a),
                 or_null(gemm.scaling_b),
                 or_null(gemm.scaling_out),
                 or_null(gemm.epilogue),
                 or_null(gemm.accumulation),
                 or_null(gemm.algorithm),
                 gemm.groups};
        operation_.gemm = &gemm_;
    }
    AbiOperation(const AbiOperation&) = delete;
    AbiOperation& operator=(const AbiOperation&) = delete;
    const mx_operation* get() const { return &operation_; }

private:
    mx_operation operation_;
    mx_gemm gemm_{};
};

mx_tensor to_abi(const TensorSpec& spec, void* data, const char* place) {
    return {sizeof(mx_tensor),   data,      spec.type.c_str(), place,
            spec.layout.c_str(), spec.rows, spec.columns,      spec.row_stride,
            spec.column_stride};
}

std::vector<mx_tensor> to_abi(const std::vector<TensorSpec>& specs) {
    std::vector<mx_tensor> tensors;
    for (const TensorSpec& spec : specs) tensors.push_back(to_abi(spec, nullptr, "host"));
    return tensors;
}

std::vector<mx_tensor> to_abi(const std::vector<TensorBuffer>& buffers) {
    std::vector<mx_tensor> tensors;
    for (const TensorBuffer& buffer : buffers) {
        tensors.push_back(to_abi(buffer.spec, buffer.data, buffer.place));
    }
    return tensors;
}

// Plug-ins built with this version or a later one are served.
constexpr std::uint32_t oldest_version = 1;

std::string versions_spoken() {
    return "versions " + std::to_string(oldest_version) + " to " +
           std::to_string(MX_DEVICE_ABI_VERSION);
}

// The newest table that the device has for us, or NULL.
const mx_device_api* newest_table(mx_device_get_api_function get_api) {
    for (std::uint32_t version = MX_DEVICE_ABI_VERSION; version >= oldest_version; --version) {
        if (const mx_device_api* table = get_api(version)) return table;
    }
    return nullptr;
}

// A device that refuses our versions may still say which one it serves, by answering to that.
std::string refusal(mx_device_get_api_function get_api) {
    constexpr std::uint32_t newest_version_tried = 16;
    for (std::uint32_t version = 0; version <= newest_version_tried; ++version) {
        const bool spoken = version >= oldest_version && version <= MX_DEVICE_ABI_VERSION;
        if (spoken || get_api(version) == nullptr) continue;
        return "serves device ABI version " + std::to_string(version) + ", this mxcheck speaks " +
               versions_spoken();
    }
    return "refuses device ABI " + versions_spoken() +
           ", which this mxcheck speaks, and serves no other up to version " +
           std::to_string(newest_version_tried);
}

// Blocks whose scales are no E8M0 bytes.
bool has_real_scales(const Operation& operation, const std::vector<mx_tensor>& inputs,
                     const std::vector<mx_tensor>& outputs) {
    if (operation.name != "quantize" && operation.name != "dequantize") return false;
    const std::vector<mx_tensor>& encoded = operation.name == "quantize" ? outputs : inputs;
    return encoded.size() > 1 && std::string_view(encoded[1].type) != "e8m0";
}

// What an older plug-in cannot be asked, for it cannot see the members that say so: scales with a
// mantissa; a GEMM, a grouped one; axis both, with more outputs than it may look for; of version 1
// also blocks of another size, and layouts whose names it may not look at. "" when it can be asked.
std::string beyond_version(std::uint32_t version, const Operation& operation,
                           const std::vector<mx_tensor>& inputs,
                           const std::vector<mx_tensor>& outputs) {
    const std::string limit = "a plug-in of device ABI version " + std::to_string(version) + " ";
    if (version < 6 && has_real_scales(operation, inputs, outputs))
        return limit + "has scales of type e8m0 alone";
    if (version < 3 && operation.gemm) return limit + "has no gemm";
    if (version < 7 && operation.gemm && operation.gemm->groups != 0)
        return limit + "has no grouped gemm";
    if (version < 4 && operation.axis == "both") return limit + "has no axis both";
    if (version > 1) return "";
    constexpr std::int64_t only_block_size = 32;
    if (operation.block_size != 0 && operation.block_size != only_block_size) {
        return limit + "has blocks of 32, not of " + std::to_string(operation.block_size);
    }
    if (!operation.subnormals.empty() && operation.subnormals != "honoured") {
        return limit + "honours subnormals and has no " + operation.subnormals;
    }
    if (!operation.axis.empty() && operation.axis != "row" && operation.axis != "col") {
        return limit + "has axis row and col, not " + operation.axis;
    }
    for (const std::vector<mx_tensor>* tensors : {&inputs, &outputs}) {
        for (const mx_tensor& tensor : *tensors) {
            const std::string layout = tensor.layout;
            if (layout != "strided") return limit + "has strided tensors, not layout " + layout;
        }
    }
    return "";
}

// "" when the table is whole.
std::string fault_of_table(const mx_device_api& table) {
    // Only the two first members exist whatever the version; read no further before they fit.
    if (table.struct_size < offsetof(mx_device_api, open)) {
        return "returned a table of " + std::to_string(table.struct_size) +
               " bytes, too short to hold its ABI version";
    }
    if (table.abi_version < oldest_version || table.abi_version > MX_DEVICE_ABI_VERSION) {
        return "was built for device ABI version " + std::to_string(table.abi_version) +
               ", this mxcheck speaks " + versions_spoken();
    }
    const std::size_t size = table.abi_version < 3   ? offsetof(mx_device_api, list_algorithms)
                             : table.abi_version < 5 ? offsetof(mx_device_api, open_configured)
                                                     : sizeof(mx_device_api);
    if (table.struct_size < size) {
        return "returned a table of " + std::to_string(table.struct_size) +
               " bytes, device ABI version " + std::to_string(table.abi_version) + " has " +
               std::to_string(size);
    }
    const char* missing = table.open == nullptr       ? "open"
                          : table.close == nullptr    ? "close"
                          : table.describe == nullptr ? "describe"
                          : table.supports == nullptr ? "supports"
                          : table.run == nullptr      ? "run"
                                                      : nullptr;
    return missing == nullptr ? ""
                              : std::string("returned a table without the function ") + missing;
}

}  // namespace

std::string name_of(mx_status status) {
    switch (status) {
        case MX_OK:
            return "MX_OK";
        case MX_NOT_SUPPORTED:
            return "MX_NOT_SUPPORTED";
        case MX_INVALID:
            return "MX_INVALID";
        case MX_OUT_OF_MEMORY:
            return "MX_OUT_OF_MEMORY";
        case MX_DEVICE_LOST:
            return "MX_DEVICE_LOST";
        case MX_FAILED:
            return "MX_FAILED";
    }
    return "an unknown status";
}

void Device::Close::operator()(OpenHandle* open) const {
    const std::unique_ptr<OpenHandle> owner(open);
    try {
        owner->api->close(owner->handle);
    } catch (...) {
        // Nobody is left to tell: the device was asked for the last time.
    }
}

Expected<Device> Device::open(const DeviceSource& source) {
    Device device;
    if (const Status status = device.load(source); !status) return status.error();
    if (const Status status = device.start(source); !status) return status.error();
    if (const Status status = device.describe(source); !status) return status.error();
    return device;
}

Status Device::load(const DeviceSource& source) {
    mx_device_get_api_function get_api = source.get_api;
    if (get_api == nullptr) {
        Expected<SharedLibrary> library = SharedLibrary::open(source.path);
        if (!library) return library.error();
        const Expected<mx_device_get_api_function> entry = library.value().entry();
        if (!entry) return entry.error();
        get_api = entry.value();
        library_ = std::move(library).value();
    }
    try {
        api_ = newest_table(get_api);
        if (api_ == nullptr) return device_error(source, refusal(get_api));
    } catch (...) {
        return device_error(source, "threw a C++ exception out of " MX_DEVICE_ENTRY);
    }
    if (const std::string fault = fault_of_table(*api_); !fault.empty()) {
        return device_error(source, fault);
    }
    return success();
}

Status Device::start(const DeviceSource& source) {
    void* handle = nullptr;
    const bool is_configured = !source.configuration.empty();
    if (is_configured && (api_->abi_version < 5 || api_->open_configured == nullptr))
        return device_error(source, "takes no configuration, and \"" +
                                        printable(source.configuration) + "\" was given");
    const CallResult result = guarded("open", [&](mx_message* message) {
        return is_configured ? api_->open_configured(&handle, source.configuration.c_str(), message)
                             : api_->open(&handle, message);
    });
    if (result.status != MX_OK) {
        return device_error(
            source, "did not open: " + name_of(result.status) + ", " + reason_of(result.message));
    }
    open_.reset(new OpenHandle{api_, handle});
    return success();
}

Status Device::describe(const DeviceSource& source) {
    const mx_fact* facts = nullptr;
    std::size_t count = 0;
    const auto call = [&](mx_message*) {
        count = api_->describe(open_->handle, &facts);
        return MX_OK;
    };
    if (const CallResult result = guarded("describe", call); result.status != MX_OK) {
        return device_error(source, "did not describe itself: " + result.message);
    }
    if (count > 0 && facts == nullptr) {
        return device_error(source,
                            "described " + std::to_string(count) + " facts at the address NULL");
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (facts[i].key == nullptr) continue;
        const char* value = facts[i].value == nullptr ? "unknown" : facts[i].value;
        facts_.emplace_back(printable(facts[i].key), printable(value));
    }
    return success();
}

mx_device_last_seconds_function Device::clock() const {
    if (!library_) return nullptr;
    return reinterpret_cast<mx_device_last_seconds_function>(
        library_->symbol(MX_DEVICE_CLOCK_ENTRY));
}

CallResult Device::supports(const Operation& operation, const TensorSpecs& tensors) {
    const AbiOperation asked(operation);
    const std::vector<mx_tensor> inputs = to_abi(tensors.inputs);
    const std::vector<mx_tensor> outputs = to_abi(tensors.outputs);
    const std::string beyond = beyond_version(api_->abi_version, operation, inputs, outputs);
    if (!beyond.empty()) return {MX_NOT_SUPPORTED, beyond};
    return guarded("supports", [&](mx_message* message) {
        return api_->supports(open_->handle, asked.get(), inputs.data(), inputs.size(),
                              outputs.data(), outputs.size(), message);
    });
}

CallResult Device::run(const Operation& operation, const TensorBuffers& tensors) {
    const AbiOperation asked(operation);
    const std::vector<mx_tensor> inputs = to_abi(tensors.inputs);
    const std::vector<mx_tensor> outputs = to_abi(tensors.outputs);
    return guarded("run", [&](mx_message* message) {
        return api_->run(open_->handle, asked.get(), inputs.data(), inputs.size(), outputs.data(),
                         outputs.size(), message);
    });
}

Expected<std::vector<std::string>> Device::algorithms(const Operation& operation,
                                                      const TensorSpecs& tensors) {
    const std::vector<std::string> own_choice{""};
    if (api_->abi_version < 3 || api_->list_algorithms == nullptr) return own_choice;
    const AbiOperation asked(operation);
    const std::vector<mx_tensor> inputs = to_abi(tensors.inputs);
    const std::vector<mx_tensor> outputs = to_abi(tensors.outputs);
    const char* const* names = nullptr;
    std::size_t count = 0;
    const CallResult result = guarded("list_algorithms", [&](mx_message* message) {
        return api_->list_algorithms(open_->handle, asked.get(), inputs.data(), inputs.size(),
                                     outputs.data(), outputs.size(), &names, &count, message);
    });
    if (result.status != MX_OK)
        return Error{ErrorKind::device, "list_algorithms answered " + name_of(result.status) +
                                            (result.message.empty() ? "" : ": " + result.message)};
    if (count > 0 && names == nullptr)
        return Error{ErrorKind::device, "list_algorithms gave " + std::to_string(count) +
                                            " names at the address NULL"};
    std::vector<std::string> algorithms;
    for (std::size_t i = 0; i < count; ++i)
        algorithms.push_back(names[i] == nullptr ? "" : printable(names[i]));
    return algorithms.empty() ? own_choice : algorithms;
}

}  // namespace mx
