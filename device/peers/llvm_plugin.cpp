// LLVM's conversions of APFloat, from binary32, bfloat16 and binary16, in the five roundings of
// IEEE 754. They do not saturate; formats without infinities and NaNs have their largest value
// there.
#include <llvm/ADT/APFloat.h>
#include <llvm/Config/llvm-config.h>

#include "device/peers/native.hpp"

using namespace mx::peers;
using llvm::APFloat;

namespace {

using Semantics = const llvm::fltSemantics& (*)();

template <Semantics to, Semantics from, llvm::RoundingMode rounding>
std::uint32_t converted(std::uint32_t code, std::uint32_t) {
    APFloat value(from(), llvm::APInt(APFloat::getSizeInBits(from()), code));
    bool loses_info = false;
    value.convert(to(), rounding, &loses_info);
    return static_cast<std::uint32_t>(value.bitcastToAPInt().getZExtValue());
}

template <Semantics to, Semantics from>
constexpr std::array<CodeCast, 5> in_each_rounding(std::string_view format, std::string_view input,
                                                   std::string_view overflow) {
    using enum llvm::RoundingMode;
    return {
        {{format, input, "nearest_even", overflow, "ocp", converted<to, from, NearestTiesToEven>},
         {format, input, "nearest_away", overflow, "ocp", converted<to, from, NearestTiesToAway>},
         {format, input, "toward_zero", overflow, "ocp", converted<to, from, TowardZero>},
         {format, input, "toward_positive", overflow, "ocp", converted<to, from, TowardPositive>},
         {format, input, "toward_negative", overflow, "ocp", converted<to, from, TowardNegative>}}};
}

template <Semantics to>
constexpr std::array<CodeCast, 15> from_each_type(std::string_view format,
                                                  std::string_view overflow) {
    std::array<CodeCast, 15> all{};
    auto next = all.begin();
    for (const auto& five : {in_each_rounding<to, APFloat::IEEEsingle>(format, "f32", overflow),
                             in_each_rounding<to, APFloat::BFloat>(format, "bf16", overflow),
                             in_each_rounding<to, APFloat::IEEEhalf>(format, "f16", overflow)})
        for (const CodeCast& one : five) *next++ = one;
    return all;
}

constexpr auto make_casts() {
    std::array<CodeCast, 7 * 15> all{};
    auto next = all.begin();
    for (const auto& casts : {from_each_type<APFloat::Float8E4M3FN>("e4m3", "overflow"),
                              from_each_type<APFloat::Float8E5M2>("e5m2", "overflow"),
                              from_each_type<APFloat::Float8E4M3FNUZ>("e4m3fnuz", "overflow"),
                              from_each_type<APFloat::Float8E5M2FNUZ>("e5m2fnuz", "overflow"),
                              from_each_type<APFloat::Float6E3M2FN>("e3m2", "saturate"),
                              from_each_type<APFloat::Float6E2M3FN>("e2m3", "saturate"),
                              from_each_type<APFloat::Float4E2M1FN>("e2m1", "saturate")})
        for (const CodeCast& one : casts) *next++ = one;
    return all;
}

constexpr auto casts = make_casts();

}  // namespace

constexpr Library library{"APFloat of LLVM " LLVM_VERSION_STRING, "LLVM", {}, {}, {}, casts};
MX_PEER(library)
