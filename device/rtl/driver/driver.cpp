// The driver of every design: compiled once, and linked with what generate.cpp writes of each.
#include "device/rtl/driver/device.hpp"

MX_KIT_PLUGIN(mx::rtl::Device)
