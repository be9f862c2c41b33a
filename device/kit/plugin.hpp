// The C table around a class. A device is
//
//     class Mine {
//     public:
//         explicit Mine(Configuration& configuration);    // or Mine(), or Mine(const char*), which
//                                                         // gets the text as it stands; may refuse
//         std::span<const mx_fact> facts();               // they live as long as the device
//         void supports(const Arguments& call);           // refuses, or returns
//         void run(const Arguments& call);                // likewise, and does the work
//         std::span<const char* const> algorithms(const Arguments& call);  // optional
//     };
//     MX_KIT_PLUGIN(Mine)
//
// and says no by refusal.hpp. One that can say it before it is open has a static function
// `supports(Mine* device, call)` instead, with device NULL where it is not open. A device with
// exceptions of its own also has a function template `static void translated(work)`, which runs
// `work` and turns them into refusals.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "device/kit/call.hpp"
#include "device/kit/configuration.hpp"

namespace mx::kit {

template <typename Device>
class Plugin {
    // A class without members needs no handle: it is NULL, as the contract allows.
    static constexpr bool is_stateless = std::is_empty_v<Device>;

    // Calls `work` with the device behind the handle.
    template <typename Work>
    static void with_device(void* device, Work work) {
        if constexpr (is_stateless) {
            Device stateless;
            work(stateless);
        } else {
            if (device == nullptr) invalid("the device is not open");
            work(*static_cast<Device*>(device));
        }
    }

    template <typename Work>
    static mx_status answer(mx_message* message, Work work) noexcept {
        return guarded(message, [&] {
            if constexpr (requires { Device::translated(work); })
                Device::translated(work);
            else
                work();
        });
    }

    static void* made(const char* text) {
        if constexpr (std::is_constructible_v<Device, const char*>) {
            return new Device(text);
        } else {
            Configuration configuration{std::string_view(text)};
            return made(configuration);
        }
    }

    static void* made(Configuration& configuration) {
        if constexpr (is_stateless) {
            configuration.refuse_others();
            return nullptr;
        } else {
            std::unique_ptr<Device> device;
            if constexpr (requires { Device(configuration); })
                device = std::make_unique<Device>(configuration);
            else
                device = std::make_unique<Device>();
            configuration.refuse_others();
            return device.release();
        }
    }

    static mx_status open_configured(void** device, const char* text, mx_message* message) {
        return answer(message, [&] {
            if (device == nullptr) invalid("no place to store the device handle");
            *device = nullptr;
            *device = made(text == nullptr ? "" : text);
        });
    }
    static mx_status open(void** device, mx_message* message) {
        return open_configured(device, "", message);
    }
    static void close(void* device) {
        if constexpr (!is_stateless) delete static_cast<Device*>(device);
    }

    static std::size_t describe(void* device, const mx_fact** facts) {
        if (facts == nullptr) return 0;
        std::span<const mx_fact> known;
        answer(nullptr,
               [&] { with_device(device, [&](Device& opened) { known = opened.facts(); }); });
        *facts = known.data();
        return known.size();
    }

    static mx_status supports(void* device, const mx_operation* operation, const mx_tensor* inputs,
                              std::size_t input_count, const mx_tensor* outputs,
                              std::size_t output_count, mx_message* message) {
        const Arguments call{operation, inputs, input_count, outputs, output_count};
        return answer(message, [&] {
            if constexpr (requires(Device * maybe_open) { Device::supports(maybe_open, call); })
                Device::supports(static_cast<Device*>(device), call);
            else
                with_device(device, [&](Device& opened) { opened.supports(call); });
        });
    }
    static mx_status run(void* device, const mx_operation* operation, const mx_tensor* inputs,
                         std::size_t input_count, const mx_tensor* outputs,
                         std::size_t output_count, mx_message* message) {
        const Arguments call{operation, inputs, input_count, outputs, output_count};
        return answer(message,
                      [&] { with_device(device, [&](Device& opened) { opened.run(call); }); });
    }

    static constexpr bool has_algorithms = requires(Device & device) {
        device.algorithms(Arguments{});
    };

    static mx_status list_algorithms(void* device, const mx_operation* operation,
                                     const mx_tensor* inputs, std::size_t input_count,
                                     const mx_tensor* outputs, std::size_t output_count,
                                     const char* const** names, std::size_t* name_count,
                                     mx_message* message) {
        const Arguments call{operation, inputs, input_count, outputs, output_count};
        return answer(message, [&] {
            if (names == nullptr || name_count == nullptr)
                invalid("no place to store the names of algorithms");
            if constexpr (has_algorithms)
                with_device(device, [&](Device& opened) {
                    const std::span<const char* const> known = opened.algorithms(call);
                    *names = known.data();
                    *name_count = known.size();
                });
        });
    }

public:
    static constexpr mx_device_api table{sizeof(mx_device_api),
                                         MX_DEVICE_ABI_VERSION,
                                         open,
                                         close,
                                         describe,
                                         supports,
                                         run,
                                         has_algorithms ? list_algorithms : nullptr,
                                         open_configured};
};

}  // namespace mx::kit

// The one exported function of a plug-in, for the class of its device. Once, outside any namespace.
#define MX_KIT_PLUGIN(device)                                                                   \
    extern "C" MX_DEVICE_EXPORT const mx_device_api* mx_device_get_api(std::uint32_t version) { \
        return version == MX_DEVICE_ABI_VERSION ? &mx::kit::Plugin<device>::table : nullptr;    \
    }
