// A verilated design as the driver sees it: ports that are memory, and a step of the simulator.
// The generated part of the plug-in implements it; knows nothing of MX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "device/rtl/driver/setup.hpp"

namespace mx::rtl {

// A packed port is one run of bits, lowest first, in whole bytes; an unpacked one is `count` of
// them, `stride` bytes apart.
struct Port {
    unsigned char* data = nullptr;  // nullptr: the design has no such port
    int bits = 0;
    int count = 1;
    std::size_t stride = 0;
};

class Model {
public:
    virtual ~Model() = default;
    virtual Port port(std::string_view name) = 0;
    virtual void eval() = 0;
    virtual bool open_trace(const std::string& path) = 0;  // false: it cannot be written
    virtual void trace(std::uint64_t time) = 0;
    virtual void flush_trace() = 0;
};

// A port as `count` slots of equal width, one for each element of a beat.
class Slots {
public:
    Slots() = default;
    Slots(Port port, std::int64_t count, Order order)
        : port_(port),
          count_(static_cast<int>(count)),
          width_(port.count > 1 ? port.bits : port.bits / static_cast<int>(count)),
          order_(order) {}

    bool exists() const { return port_.data != nullptr; }
    int width() const { return width_; }

    // Where `count` slots of that many bytes lie one after the other as in a row of a tensor.
    bool is_row_of(std::int64_t bytes) const {
        return order_ == Order::low_first && port_.count == 1 && width_ == 8 * bytes;
    }
    unsigned char* data() const { return port_.data; }

    // The code of a slot; bits above it are 0 when it is written, and left out when it is read.
    std::uint32_t read(std::int64_t slot) const {
        const Place place = place_of(slot);
        std::uint64_t word = 0;
        std::memcpy(&word, place.byte, place.bytes);
        return static_cast<std::uint32_t>(word >> place.shift & mask());
    }
    void write(std::int64_t slot, std::uint32_t code) const {
        const Place place = place_of(slot);
        std::uint64_t word = 0;
        std::memcpy(&word, place.byte, place.bytes);
        word = (word & ~(mask() << place.shift)) | (code & mask()) << place.shift;
        std::memcpy(place.byte, &word, place.bytes);
    }

private:
    struct Place {
        unsigned char* byte;
        std::size_t bytes;
        int shift;
    };

    std::uint64_t mask() const { return width_ >= 32 ? 0xFFFFFFFFu : (1u << width_) - 1u; }

    Place place_of(std::int64_t slot) const {
        const int at = static_cast<int>(slot);
        const int index = order_ == Order::low_first ? at : count_ - 1 - at;
        if (port_.count > 1) {
            const auto bytes = static_cast<std::size_t>((width_ + 7) / 8);
            return {port_.data + static_cast<std::size_t>(index) * port_.stride, bytes, 0};
        }
        const int first = index * width_, used = width_ < 32 ? width_ : 32;
        const int bytes = (first % 8 + used + 7) / 8;
        return {port_.data + first / 8, static_cast<std::size_t>(bytes), first % 8};
    }

    Port port_;
    int count_ = 1;
    int width_ = 0;
    Order order_ = Order::low_first;
};

// What the plug-in says of itself.
struct BuildFacts {
    const char* version;
    const char* simulator;
    const char* notes;
};

// Written by generate.cpp.
BuildFacts build_facts();
const Setup& the_setup();
// Before a reset the registers hold zeros (power_on 0), ones (1), or what that seed makes of them.
std::unique_ptr<Model> new_model(std::uint32_t power_on);
// What the known-good module answers to that word, asked again and again.
std::uint32_t known_good_answer(std::uint32_t word);

}  // namespace mx::rtl
