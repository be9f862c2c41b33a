// Which instruction set the kernels run on, through Highway's run-time dispatch.
// Used through cpu_device.hpp. Must not know the kernels.
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "device/cpu/cpu_device.hpp"

namespace mx::cpu {
namespace {

// Places in Highway's dispatch tables; 0 before the first dispatch.
std::size_t chosen_index() {
    return hwy::GetChosenTarget().GetIndex();
}
std::size_t index_of(std::int64_t target) {
    hwy::ChosenTarget only;
    only.Update(target);
    return only.GetIndex();
}

// Best first. Highway leaves out the target without vectors where a better one runs, and asking it
// what is supported also resets the choice, so the choice is put back.
std::vector<std::int64_t> available() {
    const std::size_t chosen = chosen_index();
    const std::int64_t compiled = HWY_TARGETS;
    std::vector<std::int64_t> targets;
    for (std::int64_t rest = hwy::SupportedTargets() & compiled; rest != 0; rest &= rest - 1) {
        targets.push_back(rest & -rest);
    }
    const std::int64_t last = HWY_STATIC_TARGET;
    if (targets.empty() || targets.back() != last) targets.push_back(last);
    hwy::GetChosenTarget().Update(targets.front());
    for (const std::int64_t target : targets) {
        if (index_of(target) == chosen) hwy::GetChosenTarget().Update(target);
    }
    return targets;
}

}  // namespace

std::vector<std::string_view> cpu_targets() {
    std::vector<std::string_view> names;
    for (const std::int64_t target : available()) names.push_back(hwy::TargetName(target));
    return names;
}

std::string_view cpu_target() {
    for (const std::int64_t target : available()) {
        if (index_of(target) == chosen_index()) return hwy::TargetName(target);
    }
    return "unknown";
}

bool set_cpu_target(std::string_view name) {
    for (const std::int64_t target : available()) {
        if (name == "best" || name == hwy::TargetName(target)) {
            hwy::GetChosenTarget().Update(target);
            return true;
        }
    }
    return false;
}

}  // namespace mx::cpu
