// Proves each house rule on a planted violation in a tree of its own, then applies it to the real
// tree. MX_SOURCE_ROOT is that tree; nothing else of the build is known here.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "conformance/test/house_rules.hpp"

namespace mx::house {
namespace {

// A small tree on disk that breaks no rule until a test plants something.
class PlantedTree : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "house-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        root_ = name;
        plant("reference/spec/formats.hpp", "#pragma once\n");
        plant("reference/exact/round.hpp", "#pragma once\n");
        plant("device/abi/mx_device.h", "/* the contract */\n");
        plant("conformance/run/compare.hpp", "#pragma once\n");
        plant("conformance/cli/main.cpp", "int main() { return 0; }\n");
        plant_table({"| `reference/spec` | | | |", "| `reference/exact` | | | |",
                     "| `device/abi` | | | |", "| `conformance/run` | | | |",
                     "| `conformance/cli` | | | |"});
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void plant(const std::string& path, const std::string& text) const { plant(path, {text}); }
    void plant(const std::string& path, std::initializer_list<std::string> pieces) const {
        const std::filesystem::path whole = root_ / path;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream file(whole, std::ios::binary);
        for (const std::string& piece : pieces) file << piece;
    }
    // The table of who includes whom, with these rows.
    void plant_table(std::initializer_list<std::string> rows) const {
        std::string table = "## Who includes whom\n\n| folder | job | includes | its tests |\n";
        for (const std::string& row : rows) table += row + "\n";
        plant("conformance/ARCHITECTURE.md", table + "\n## Else\n| `garage` | | | |\n");
    }
    Tree tree() const { return read_tree(root_); }

    std::filesystem::path root_;
};

std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
}

// One function of `lines` lines, from its opening brace on.
std::string body_of(int lines) {
    std::string text = "{\n";
    text += repeated("    work();\n", lines - 2);
    return text += "}\n";
}

// The violations as "path:line path:line", which is what the tests below compare.
std::string places(const Violations& violations) {
    std::string text;
    for (const Violation& violation : violations)
        text += (text.empty() ? "" : " ") + violation.path + ":" + std::to_string(violation.line);
    return text;
}

TEST_F(PlantedTree, IncludeThatTheTableLacks) {
    EXPECT_EQ(describe(check_includes(tree())), "");
    plant("device/cpu/plugin.cpp",
          "#include \"device/abi/mx_device.h\"\n#include \"reference/spec/formats.hpp\"\n");
    plant("device/cpu/cpu_device.hpp", "#pragma once\n");
    plant("device/cpu/rules.hpp", "#pragma once\n");
    plant("conformance/run/runner.cpp", "#include \"conformance/cli/arguments.hpp\"\n");
    plant("conformance/cli/arguments.hpp", "#pragma once\n");
    plant("conformance/cli/cmd_run.cpp",
          "#include \"device/cpu/cpu_device.hpp\"\n#include \"conformance/cli/arguments.hpp\"\n"
          "#include \"device/cpu/rules.hpp\"\n");
    plant("reference/exact/block.hpp", "// #include \"conformance/run/compare.hpp\"\n");
    plant("reference/exact/test/block_test.cpp",
          "#include \"reference/spec/formats.hpp\"\n#include \"conformance/run/compare.hpp\"\n");
    plant("reference/exact/decode.cpp", "#include \"reference/spec/formats.hpp\"\n");
    plant_table({"| `reference/spec` | | | |", "| `reference/exact` | | | `reference/spec` |",
                 "| `device/abi` | | | |", "| `device/cpu` | | `device/abi` | |",
                 "| `conformance/run` | | | |",
                 "| `conformance/cli` | | `device/cpu/cpu_device.hpp` | |"});
    EXPECT_EQ(
        describe(check_includes(tree())),
        "conformance/cli/cmd_run.cpp:3: conformance/cli may not include device/cpu/rules.hpp\n"
        "conformance/run/runner.cpp:1: conformance/run may not include "
        "conformance/cli/arguments.hpp\n"
        "device/cpu/plugin.cpp:2: device/cpu may not include reference/spec/formats.hpp\n"
        "reference/exact/decode.cpp:1: reference/exact may not include "
        "reference/spec/formats.hpp\n"
        "reference/exact/test/block_test.cpp:2: reference/exact may not include "
        "conformance/run/compare.hpp\n");
}

TEST_F(PlantedTree, RowThatNothingUses) {
    plant("reference/exact/test/round_test.cpp", "#include \"device/abi/mx_device.h\"\n");
    plant_table({"| `reference/spec` | | | |",
                 "| `reference/exact` | | `reference/spec` | `device/abi` `conformance/run` |",
                 "| `device/abi` | | | |", "| `conformance/run` | | | |",
                 "| `conformance/cli` | | | |", "| `conformance/attic` | | | |"});
    EXPECT_EQ(describe(check_includes(tree())),
              "conformance/ARCHITECTURE.md:5: reference/exact does not include reference/spec\n"
              "conformance/ARCHITECTURE.md:5: no test of reference/exact alone includes "
              "conformance/run\n"
              "conformance/ARCHITECTURE.md:9: conformance/attic has no file\n");
}

// Allowed each, and yet round and round.
TEST_F(PlantedTree, FoldersThatIncludeEachOther) {
    plant("reference/spec/tables.cpp", "#include \"conformance/run/compare.hpp\"\n");
    plant("reference/exact/decode.cpp", "#include \"reference/spec/formats.hpp\"\n");
    plant("conformance/run/runner.cpp", "#include \"reference/exact/round.hpp\"\n");
    plant("conformance/cli/cmd_run.cpp", "#include \"conformance/run/compare.hpp\"\n");
    plant_table({"| `reference/spec` | | `conformance/run` | |",
                 "| `reference/exact` | | `reference/spec` | |", "| `device/abi` | | | |",
                 "| `conformance/run` | | `reference/exact` | |",
                 "| `conformance/cli` | | `conformance/run` | |"});
    EXPECT_EQ(
        describe(check_includes(tree())),
        "conformance/ARCHITECTURE.md:4: reference/spec includes conformance/run, which does not "
        "stand above it\n");
}

TEST_F(PlantedTree, IncludeNotFromTheRoot) {
    plant("conformance/run/compare.cpp", "#include \"compare.hpp\"\n");
    plant("garage/car.cpp", "\n");
    plant("device/example/plugin.c", "#include \"mx_device.h\"\n");
    plant("conformance/cli/environment.cpp", "#include \"mx_version.hpp\"\n");
    plant("conformance/run/version.cpp", "#include \"mx_version.hpp\"\n");
    plant("device/abi/plugin.cpp", "#include \"mx_device.h\"\n");
    plant_table({"| `reference/spec` | | | |", "| `reference/exact` | | | |",
                 "| `device/abi` | | | |", "| `device/example` | | | |",
                 "| `conformance/run` | | | |", "| `conformance/cli` | | | |"});
    EXPECT_EQ(places(check_includes(tree())),
              "conformance/run/compare.cpp:1 conformance/run/version.cpp:1 device/abi/plugin.cpp:1 "
              "garage/car.cpp:0");
}

TEST_F(PlantedTree, LibraryAwayFromHome) {
    plant("reference/exact/rational.hpp", "#include <boost/multiprecision/cpp_int.hpp>\n");
    plant("reference/fast/round.hpp", "#include <boost/multiprecision/cpp_int.hpp>\n");
    plant("device/nvhost/plugin.cpp", "#include <cuda_fp8.h>\n");
    plant("device/host/open.cpp", "# include <cuda_fp8.h>\n");
    plant("conformance/run/fast.cpp", "#include <vector>\n#include <hwy/highway.h>\n");
    plant_table({"| `reference` | | | |", "| `device` | | | |", "| `conformance` | | | |"});
    EXPECT_EQ(places(check_includes(tree())),
              "conformance/run/fast.cpp:2 device/host/open.cpp:1 reference/fast/round.hpp:1");
}

// Though the table lets the folder in.
TEST_F(PlantedTree, TheProcessOfADeviceAwayFromHome) {
    plant("device/host/client.hpp", "#pragma once\n");
    plant("device/host/isolated_device.hpp", "#pragma once\n");
    plant("device/host/client.cpp", "#include \"device/host/isolated_device.hpp\"\n");
    plant("conformance/run/runner.cpp",
          "#include \"device/host/client.hpp\"\n#include \"device/host/isolated_device.hpp\"\n");
    plant_table(
        {"| `reference` | | | |", "| `device` | | | |", "| `conformance` | | `device` | |"});
    EXPECT_EQ(places(check_includes(tree())), "conformance/run/runner.cpp:2");
}

TEST_F(PlantedTree, LongFile) {
    plant("device/cpu/fits.cpp", repeated("\n", 800));
    plant("device/cpu/long.cpp", repeated("\n", 801));
    plant("device/CMakeLists.txt", repeated("# one more\n", 801));
    EXPECT_EQ(places(check_file_lengths(tree())), "device/CMakeLists.txt:0 device/cpu/long.cpp:0");
}

TEST_F(PlantedTree, WideLine) {
    plant("device/cpu/fits.cpp", repeated("\xC3\xA9", 100));
    plant("device/cpu/wide.cpp", {"\n", repeated("x", 101)});
    plant("bootstrap", repeated("#", 101));
    EXPECT_EQ(places(check_columns(tree())), "bootstrap:1 device/cpu/wide.cpp:2");
}

TEST_F(PlantedTree, LongFunction) {
    const std::string seventy = body_of(70);
    const std::string longer = body_of(71);
    plant("device/cpu/fits.cpp", {"namespace a {\nvoid f(int x = {}) ", seventy, "}\n"});
    plant("device/cpu/plain.cpp", {"namespace a {\n\nvoid f() ", longer, "}\n"});
    plant("device/cpu/member.cpp",
          {"struct S {\npublic:\n  S& operator=(S) noexcept ", longer, "};\n"});
    plant("device/cpu/second.cpp", {"S::S(int a) : a_{a} {}\nauto f() -> int ", longer});
    plant("device/cpu/table.cpp", {"int t[] = ", repeated("{\n", 80), repeated("}", 80), ";"});
    plant("device/cpu/tests.cpp", {"TEST(A, b) ", longer});
    EXPECT_EQ(places(check_functions(tree())),
              "device/cpu/member.cpp:3 device/cpu/plain.cpp:3 device/cpu/second.cpp:2 "
              "device/cpu/tests.cpp:1");
}

// Braces in literals, comments and the preprocessor are none of the function's.
TEST_F(PlantedTree, LongFunctionAmongStrayBraces) {
    plant("device/cpu/stray.cpp",
          {"#define OPEN { \\\n  void g() {\nvoid f() {\n  g('}', \"}\", R\"x(\")}\")x\");\n",
           "  // }\n  /* } */\n  if (1'000) {  // swallowed if that were a literal\n  }\n",
           repeated("    work();\n", 64), "}\n"});
    EXPECT_EQ(places(check_functions(tree())), "device/cpu/stray.cpp:3");
}

TEST_F(PlantedTree, OracleWord) {
    plant("reference/fast/round.hpp", "// no float here\nint floats = 0; // pow\n");
    plant("reference/exact/scale.hpp", "const char* text = \"double\";\n");
    EXPECT_EQ(places(check_oracle_words(tree())), "");
    plant("reference/fast/scale.hpp", "#include <cmath>\nint a = 1'000;\nfloat x;\n");
    plant("reference/exact/decode.cpp", "auto y = std::ldexp(1, 3);\n");
    plant("device/cpu/quantize.cpp", "float x;\n");
    EXPECT_EQ(places(check_oracle_words(tree())),
              "reference/exact/decode.cpp:1 reference/fast/scale.hpp:1 reference/fast/scale.hpp:3");
}

TEST_F(PlantedTree, FormThatIsGone) {
    plant("bench/a.cpp", "// case_of_slice was here\nint case_of = 0;\n");
    EXPECT_EQ(places(check_gone(tree())), "");
    plant("conformance/run/b.cpp", "\nconst Case c = case_of_slice(names);\n");
    EXPECT_EQ(places(check_gone(tree())), "conformance/run/b.cpp:2");
}

TEST_F(PlantedTree, MarkOfUnfinishedWork) {
    plant("bench/a.cpp",
          "// mkdtemp wants a name like houseXX"
          "XXXX\n");
    EXPECT_EQ(places(check_markers(tree())), "");
    plant("bench/b.cpp",
          "\n// TO"
          "DO: rest\n");
    plant("fuzz/README.md",
          "FIX"
          "ME\n");
    plant("fuzz/CMakeLists.txt",
          "# XX"
          "X\n");
    EXPECT_EQ(places(check_markers(tree())),
              "bench/b.cpp:2 fuzz/CMakeLists.txt:1 fuzz/README.md:1");
}

TEST_F(PlantedTree, ProofNotNamed) {
    const std::string named = "// Proved by reference/proof/prove_round.cpp.\n";
    plant("reference/fast/round.hpp", named);
    EXPECT_EQ(places(check_proofs_named(tree())), "reference/fast/round.hpp:0");
    plant("reference/proof/prove_round.cpp", "int main() {}\n");
    EXPECT_EQ(places(check_proofs_named(tree())), "");
    plant("reference/fast/scale.hpp", "// Proved by nobody.\n");
    EXPECT_EQ(places(check_proofs_named(tree())), "reference/fast/scale.hpp:0");
}

TEST_F(PlantedTree, PragmaOnceForgotten) {
    EXPECT_EQ(places(check_pragma_once(tree())), "");
    plant("bench/a.hpp", "// #pragma once\nint a();\n");
    plant("device/cpu/a-inl.hpp", "#if defined(A) == defined(HWY_TARGET_TOGGLE)\n#endif\n");
    plant("device/cpu/b-inl.hpp", "int b();\n");
    EXPECT_EQ(places(check_pragma_once(tree())), "bench/a.hpp:0 device/cpu/b-inl.hpp:0");
}

TEST_F(PlantedTree, IntegerTypesFromElsewhere) {
    plant("bench/a.hpp", "#include <cstdint>\nstd::int32_t a();\n");
    plant("bench/b.hpp", "// std::int32_t\nint b();\n");
    plant("bench/c.cpp", "std::int32_t c();\n");
    EXPECT_EQ(places(check_integer_types(tree())), "");
    plant("bench/d.hpp", "\nstd::uint8_t d();\n// #include <cstdint>\n");
    plant("bench/e.cuh", "std::uintptr_t e();\n");
    EXPECT_EQ(places(check_integer_types(tree())), "bench/d.hpp:2 bench/e.cuh:1");
}

TEST_F(PlantedTree, ReadmeForgotten) {
    for (const char* room : {"reference", "device", "conformance", "fuzz", "bench"})
        plant(std::string(room) + "/README.md", "a page\n");
    EXPECT_EQ(places(check_readmes(tree())), "reports:0");
}

TEST_F(PlantedTree, WaiverThatNobodyAnswersFor) {
    const std::string owner = "owner = \"Ada\"\n", link = "link = \"https://a\"\n",
                      expires = "expires = 2027-01-31\n", head = "[[waiver]]\n";
    plant("conformance/waivers/good.toml",
          {head, owner, link, expires, head, link, owner, expires});
    EXPECT_EQ(places(check_waivers(tree())), "");
    plant("conformance/waivers/bad.toml", {"# one\n", head, owner, link, expires, head, "# ", owner,
                                           link, expires, head, owner, link});
    plant("conformance/waivers/empty.toml", {head, "owner = \"\"\n", link, expires});
    plant("conformance/waivers/none.toml", "\n");
    EXPECT_EQ(places(check_waivers(tree())),
              "conformance/waivers/bad.toml:6 conformance/waivers/bad.toml:10 "
              "conformance/waivers/empty.toml:1 conformance/waivers/none.toml:0");
}

TEST_F(PlantedTree, NameInTwoTables) {
    plant("reference/spec/formats.hpp",
          "std::array formats{\n  Format{\"e4m3\", 4},\n  Format{\"e5m2\", 5}};\n"
          "std::array<std::string_view, 2> names{\"e4m3\", \"e5m2\"};\n"
          "auto& x = *find(\"e4m3\");\n");
    plant("reference/spec/kinds.hpp", "row.name = \"ocp\";\nauto r = nv_row(\"nv\", 3);\n");
    EXPECT_EQ(places(check_names_unique(tree())), "");
    plant("reference/spec/more.hpp",
          "// {\"e5m2\", 1}\nFormat mine{\"e4m3\", 4};\nrow.name = \"nv\";\n");
    plant("reference/spec/pairs.hpp", "Pair p{{\"ocp\", Kind::ocp}};\n");
    EXPECT_EQ(places(check_names_unique(tree())),
              "reference/spec/more.hpp:2 reference/spec/more.hpp:3 reference/spec/pairs.hpp:1");
}

TEST_F(PlantedTree, RetiredName) {
    plant("bench/new.cpp", "// find_recipe\nauto a = find_recipes(\"find_dialect\");\n");
    EXPECT_EQ(places(check_retired_names(tree())), "");
    plant("bench/old.cpp", "\nauto* a = find_dialect(\"ocp\");\nRecipeFormat b;\n");
    EXPECT_EQ(places(check_retired_names(tree())), "bench/old.cpp:2 bench/old.cpp:3");
}

TEST_F(PlantedTree, RowMadeFromAnother) {
    const std::string head = "inline constexpr std::array more_rows{\n    Quantizer{\n";
    const std::string tail = "        .open = 0u | Decision::nan_code,\n    },\n};\n";
    plant("reference/spec/quantizer_rows_flat.hpp",
          head + "        .source = \"a@b:c.py, nv_row.d\",  // as nv_row.source\n" +
              "        .formats = formats_named({\"mxint8\"}),\n" +
              "        .scale_cast = {.rounding = ScaleRounding::toward_zero},\n" + tail);
    EXPECT_EQ(places(check_flat_rows(tree())), "");
    plant("reference/spec/quantizer_rows_a.hpp", head + ".source = nv_row.source,\n" + tail);
    plant("reference/spec/quantizer_rows_b.hpp", head + ".open = nvidia_rows[0] . open,\n" + tail);
    plant("reference/spec/quantizer_rows_c.hpp", "constexpr Quantizer row = common;\n");
    plant("reference/spec/quantizer_rows_d.hpp", head + "}, row_like(base, x),\n" + tail);
    EXPECT_EQ(places(check_flat_rows(tree())),
              "reference/spec/quantizer_rows_a.hpp:3 reference/spec/quantizer_rows_b.hpp:3 "
              "reference/spec/quantizer_rows_c.hpp:1 reference/spec/quantizer_rows_d.hpp:3");
}

TEST_F(PlantedTree, ReaderThatLeavesEarly) {
    plant("bench/plain.sh", "objdump -p a | grep -q b\n");
    plant("bench/whole.sh", "set -o pipefail\nobjdump -p a | grep b >c\n[ a ] || grep -q b c\n");
    EXPECT_EQ(places(check_early_readers(tree())), "");
    plant("bench/grep.sh", "set -o pipefail\nobjdump -p a | grep -Fq b\n");
    plant("bench/head.sh", ". scenes.sh\nfirst=$(objdump -p a | head -n 1)\n");
    EXPECT_EQ(places(check_early_readers(tree())), "bench/grep.sh:2 bench/head.sh:2");
}

const Tree& real_tree() {
    static const Tree tree = read_tree(MX_SOURCE_ROOT);
    return tree;
}

// A tree read wrongly breaks no rule; so first that it was read.
TEST(HouseRules, TreeIsRead) {
    for (const char* path : {"CMakeLists.txt", "bootstrap", ".ci/run", "device/abi/mx_device.h",
                             "reference/spec/formats.hpp", "conformance/test/house_words.cpp"})
        EXPECT_TRUE(real_tree().has(path)) << path;
}

TEST(HouseRules, Includes) {
    EXPECT_EQ(describe(check_includes(real_tree())), "");
}
TEST(HouseRules, FileLengths) {
    EXPECT_EQ(describe(check_file_lengths(real_tree())), "");
}
TEST(HouseRules, Columns) {
    EXPECT_EQ(describe(check_columns(real_tree())), "");
}
TEST(HouseRules, Functions) {
    EXPECT_EQ(describe(check_functions(real_tree())), "");
}
TEST(HouseRules, OracleWords) {
    EXPECT_EQ(describe(check_oracle_words(real_tree())), "");
}
TEST(HouseRules, Gone) {
    EXPECT_EQ(describe(check_gone(real_tree())), "");
}
TEST(HouseRules, Markers) {
    EXPECT_EQ(describe(check_markers(real_tree())), "");
}
TEST(HouseRules, ProofsNamed) {
    EXPECT_EQ(describe(check_proofs_named(real_tree())), "");
}
TEST(HouseRules, PragmaOnce) {
    EXPECT_EQ(describe(check_pragma_once(real_tree())), "");
}
TEST(HouseRules, IntegerTypes) {
    EXPECT_EQ(describe(check_integer_types(real_tree())), "");
}
TEST(HouseRules, Readmes) {
    EXPECT_EQ(describe(check_readmes(real_tree())), "");
}
TEST(HouseRules, Waivers) {
    EXPECT_EQ(describe(check_waivers(real_tree())), "");
}
TEST(HouseRules, NamesUnique) {
    EXPECT_EQ(describe(check_names_unique(real_tree())), "");
}
TEST(HouseRules, RetiredNames) {
    EXPECT_EQ(describe(check_retired_names(real_tree())), "");
}
TEST(HouseRules, EarlyReaders) {
    EXPECT_EQ(describe(check_early_readers(real_tree())), "");
}
TEST(HouseRules, FlatRows) {
    EXPECT_TRUE(real_tree().has("reference/spec/quantizer_rows_ocp.hpp"));
    EXPECT_EQ(describe(check_flat_rows(real_tree())), "");
}

}  // namespace
}  // namespace mx::house
