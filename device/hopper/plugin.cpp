// The device table of the plug-in: the way from a call to a product. Must not let an exception out.
#include <memory>
#include <string>
#include <utility>

#include "device/abi/mx_device.h"
#include "device/abi/mx_device_clock.h"
#include "device/cublaslt/plugin_frame.hpp"
#include "device/hopper/request.hpp"
#include "device/hopper/ways.hpp"

namespace mx::hopper {
namespace {

using cublaslt::Call;
using cublaslt::guarded;
using cublaslt::say;

struct OpenDevice : cublaslt::GpuDevice {
    cublaslt::GpuMemory staged, made;
    std::vector<const char*> algorithms;
};

void read_facts(OpenDevice& device) {
    const int capability = read_gpu(device);
    if (capability != 90)
        throw Refusal{MX_NOT_SUPPORTED,
                      "this device needs a GPU of compute capability 9.0, Hopper, and " +
                          device.name + " has " + std::to_string(capability / 10) + "." +
                          std::to_string(capability % 10)};
    device.isa = "sm_90a";
    device.notes = "MX GEMMs without MX tensor cores";
    set_facts(device, "mxcheck");
}

mx_status open(void** device, mx_message* message) {
    if (device == nullptr) {
        say(message, "no place to store the device handle");
        return MX_INVALID;
    }
    *device = nullptr;
    return guarded(message, [&] {
        cublaslt::require_gpu();
        auto opened = std::make_unique<OpenDevice>();
        read_facts(*opened);
        make_ready(*opened);
        *device = static_cast<cublaslt::GpuDevice*>(opened.release());
        return MX_OK;
    });
}

void close(void* device) {
    delete static_cast<OpenDevice*>(static_cast<cublaslt::GpuDevice*>(device));
}

OpenDevice& opened(void* device) {
    auto* const gpu = static_cast<cublaslt::GpuDevice*>(device);
    choose(gpu);
    return static_cast<OpenDevice&>(*gpu);
}

Request checked_request(const Call& call, Buffers buffers) {
    auto answer = request_of(call, buffers);
    if (auto* refusal = std::get_if<Refusal>(&answer)) throw std::move(*refusal);
    return std::get<Request>(std::move(answer));
}

Resources resources_of(OpenDevice& device) {
    return {device.handle,
            {device.workspace.data(), cublaslt::workspace_bytes},
            device.made,
            device.stream};
}

// Why this way does not do the request, "" where it does. Without a device only what needs none is
// looked at.
std::string refusal_by(const Way& way, const Request& request, const Resources* resources) {
    for (const Product& product : request.batches) {
        std::string reason = way.refusal(product, resources);
        if (!reason.empty()) return std::string(way.name) + ": " + reason;
    }
    return "";
}

// The way that is asked for, or the first that does it.
const Way& chosen(const Request& request, const Resources* resources) {
    if (!request.algorithm.empty()) {
        const Way* way = find_way(request.algorithm);
        if (way == nullptr)
            throw Refusal{MX_NOT_SUPPORTED,
                          "this device has no algorithm \"" + request.algorithm + "\""};
        const std::string reason = refusal_by(*way, request, resources);
        if (!reason.empty()) throw Refusal{MX_NOT_SUPPORTED, reason};
        return *way;
    }
    std::string reasons;
    for (const Way& way : ways()) {
        const std::string reason = refusal_by(way, request, resources);
        if (reason.empty()) return way;
        reasons += (reasons.empty() ? "" : "; ") + reason;
    }
    throw Refusal{MX_NOT_SUPPORTED, reasons};
}

mx_status supports(void* device, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count};
    return guarded(message, [&] {
        const Request request = checked_request(call, Buffers::absent);
        if (request.writes_nothing()) return MX_OK;
        const Resources resources = resources_of(opened(device));
        chosen(request, &resources);
        return MX_OK;
    });
}

mx_status list_algorithms(void* device, const mx_operation* operation, const mx_tensor* inputs,
                          std::size_t input_count, const mx_tensor* outputs,
                          std::size_t output_count, const char* const** names,
                          std::size_t* name_count, mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count};
    return guarded(message, [&] {
        if (names == nullptr || name_count == nullptr)
            throw Refusal{MX_INVALID, "no place to store the names of algorithms"};
        OpenDevice& open_device = opened(device);
        const Request request = checked_request(call, Buffers::absent);
        const Resources resources = resources_of(open_device);
        open_device.algorithms.clear();
        for (const Way& way : ways())
            if (!request.writes_nothing() && refusal_by(way, request, &resources).empty())
                open_device.algorithms.push_back(way.name.data());
        *names = open_device.algorithms.data();
        *name_count = open_device.algorithms.size();
        return MX_OK;
    });
}

// Of the last run of this process, below 0 where there is no time; calls come from one thread at a
// time.
double last_seconds = -1;

void run_on_gpu(OpenDevice& device, const Call& call) {
    cublaslt::Staging staging(call, device.staged, device.stream);
    const cublaslt::WaitAtEnd wait{device.stream};
    staging.copy_in();
    const Request request = checked_request(staging.call(), Buffers::present);
    const Resources resources = resources_of(device);
    const Way& way = chosen(request, &resources);
    cudaEventRecord(device.begin, device.stream);
    for (const Product& product : request.batches) way.run(product, resources);
    cudaEventRecord(device.end, device.stream);
    staging.copy_out();
    cublaslt::check(cudaStreamSynchronize(device.stream), "multiplying");
    last_seconds = seconds_of(device);
}

mx_status run(void* device, const mx_operation* operation, const mx_tensor* inputs,
              std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
              mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count};
    last_seconds = -1;
    return guarded(message, [&] {
        if (!checked_request(call, Buffers::present).writes_nothing())
            run_on_gpu(opened(device), call);
        return MX_OK;
    });
}

constexpr mx_device_api table{sizeof(mx_device_api),
                              MX_DEVICE_ABI_VERSION,
                              open,
                              close,
                              cublaslt::describe,
                              supports,
                              run,
                              list_algorithms,
                              nullptr};

}  // namespace
}  // namespace mx::hopper

extern "C" const mx_device_api* mx_device_get_api(std::uint32_t host_abi_version) {
    return host_abi_version == MX_DEVICE_ABI_VERSION ? &mx::hopper::table : nullptr;
}

extern "C" double mx_device_last_seconds(void) {
    return mx::hopper::last_seconds;
}
