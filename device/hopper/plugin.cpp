// The device of the plug-in: the way from a call to a product.
#include <string>
#include <vector>

#include "device/abi/mx_device_clock.h"
#include "device/cublaslt/plugin_frame.hpp"
#include "device/hopper/request.hpp"
#include "device/hopper/ways.hpp"
#include "device/kit/plugin.hpp"

namespace mx::hopper {
namespace {

using cublaslt::Call;

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

// Of the last run of this process, below 0 where there is no time; calls come from one thread at a
// time.
double last_seconds = -1;

class Hopper : public cublaslt::GpuDevice {
public:
    Hopper() {
        cublaslt::require_gpu();
        const int capability = read_gpu(*this);
        if (capability != 90)
            cublaslt::not_supported(
                "this device needs a GPU of compute capability 9.0, Hopper, and " + name + " has " +
                std::to_string(capability / 10) + "." + std::to_string(capability % 10));
        isa = "sm_90a";
        notes = "MX GEMMs without MX tensor cores";
        set_facts(*this, "mxcheck");
        make_ready(*this);
    }

    // What needs no GPU is answered before the device is open.
    static void supports(Hopper* device, const Call& call) {
        const Request request = request_of(call, Buffers::absent);
        if (request.writes_nothing()) return;
        choose(device);
        const Resources available = device->resources();
        chosen(request, &available);
    }

    void run(const Call& call) {
        last_seconds = -1;
        if (request_of(call, Buffers::present).writes_nothing()) return;
        choose(this);
        run_on_gpu(call);
    }

    std::span<const char* const> algorithms(const Call& call) {
        choose(this);
        const Request request = request_of(call, Buffers::absent);
        const Resources available = resources();
        algorithms_.clear();
        for (const Way& way : ways())
            if (!request.writes_nothing() && refusal_by(way, request, &available).empty())
                algorithms_.push_back(way.name.data());
        return algorithms_;
    }

private:
    Resources resources() {
        return {handle, {workspace.data(), cublaslt::workspace_bytes}, made_, stream};
    }

    void run_on_gpu(const Call& call) {
        cublaslt::Staging staging(call, staged_, stream);
        const cublaslt::WaitAtEnd wait{stream};
        staging.copy_in();
        const Request request = request_of(staging.call(), Buffers::present);
        const Resources available = resources();
        const Way& way = chosen(request, &available);
        cudaEventRecord(begin, stream);
        for (const Product& product : request.batches) way.run(product, available);
        cudaEventRecord(end, stream);
        staging.copy_out();
        cublaslt::check(cudaStreamSynchronize(stream), "multiplying");
        last_seconds = seconds_of(*this);
    }

    cublaslt::GpuMemory staged_, made_;
    std::vector<const char*> algorithms_;
};

}  // namespace
}  // namespace mx::hopper

MX_KIT_PLUGIN(mx::hopper::Hopper)

extern "C" double mx_device_last_seconds(void) {
    return mx::hopper::last_seconds;
}
