// Any bytes as the state of a search and as a find, which are files in a user's folder: refused
// with a sentence, or a search that goes on and cases that can be asked again.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fuzz/search/block_maker.hpp"
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

// What the search does next with the blocks that the state says were kept.
void check_kept(const mx::fuzz::Coverage& coverage) {
    mx::fuzz::Random random({});
    mx::BlockData block;
    for (int made = 0; made < 8; ++made) {
        block.lanes.assign(32, 0);
        mx::fuzz::BlockMaker(coverage.rules, coverage.kept, random).make(block);
        for (const std::uint32_t lane : block.lanes)
            mx::fuzz::require("a lane is a code of the type", (lane >> 16) == 0);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mx::fuzz;
    static const std::string path =
        (std::filesystem::temp_directory_path() / ("mx_fuzz_state." + std::to_string(getpid())))
            .string();
    static const auto themes = list_themes({{"quantize"}, {"mxfp8-e4m3"}, {"ocp"}, {"bf16"}});
    std::ofstream(path, std::ios::binary) << as_text(data, size);
    NoJudge nobody;
    Search search(themes, {}, nobody);
    const auto restored = restore_state(path, "all", search);
    if (!restored) require_sentence(restored.error());
    for (const Coverage& coverage : search.coverage()) check_kept(coverage);
    const auto cases = read_find(path);
    if (!cases) require_sentence(cases.error());
    std::filesystem::remove(path);
    return 0;
}
