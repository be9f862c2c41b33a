// Any bytes as the state of a search, which is a file in a user's folder: refused with a sentence,
// or a search that can be stored again.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fuzz/search/store.hpp"
#include "fuzz/targets/text.hpp"

namespace {

class NoJudge : public mx::fuzz::Judge {
public:
    bool supports(const mx::Case&) override { return false; }
    mx::fuzz::Judgement judge(const mx::Case&, const std::vector<mx::CodeTensor>&) override {
        return {};
    }
    void restart() override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    static const std::string path =
        (std::filesystem::temp_directory_path() / ("mx_fuzz_state." + std::to_string(getpid())))
            .string();
    static const auto themes = list_themes({{"quantize"}, {"mxfp8-e4m3"}, {"ocp"}, {"f32"}});
    std::ofstream(path, std::ios::binary) << as_text(data, size);
    NoJudge nobody;
    Search search(themes, {}, nobody);
    const auto restored = restore_state(path, "all", search);
    if (!restored) require_sentence(restored.error());
    std::filesystem::remove(path);
    return 0;
}
