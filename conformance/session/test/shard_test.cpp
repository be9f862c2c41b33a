// Tests of who says which part of a run a process does. The environment is made up.
#include "conformance/session/shard.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace mx::session {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
    return [variables](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    };
}

// "2/3", or why not.
std::string automatic(const Variables& variables) {
    const auto shard = shard_of("auto", environment_of(variables));
    return shard ? text_of(shard.value()) : shard.error().message;
}

TEST(ShardOf, TakesWhatALauncherSays) {
    EXPECT_EQ(automatic({{"SLURM_ARRAY_TASK_ID", "2"}, {"SLURM_ARRAY_TASK_COUNT", "3"}}), "2/3");
    EXPECT_EQ(automatic({{"SLURM_ARRAY_TASK_ID", "14"},
                         {"SLURM_ARRAY_TASK_COUNT", "3"},
                         {"SLURM_ARRAY_TASK_MIN", "10"},
                         {"SLURM_ARRAY_TASK_STEP", "2"}}),
              "2/3");
    EXPECT_EQ(automatic({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}), "1/2");
    EXPECT_EQ(automatic({{"JOB_COMPLETION_INDEX", "0"}, {"JOB_COMPLETIONS", "2"}}), "0/2");
    EXPECT_EQ(automatic({{"GTEST_SHARD_INDEX", "1"}, {"GTEST_TOTAL_SHARDS", "3"}}), "1/3");
    EXPECT_EQ(automatic({{"TEST_SHARD_INDEX", "0"}, {"TEST_TOTAL_SHARDS", "2"}}), "0/2");
}

TEST(ShardOf, RanksHideSlurmsTasksAndOnePartGivesWay) {
    const Variables mpi{{"OMPI_COMM_WORLD_RANK", "1"},
                        {"OMPI_COMM_WORLD_SIZE", "3"},
                        {"SLURM_PROCID", "0"},
                        {"SLURM_NTASKS", "2"}};
    EXPECT_EQ(automatic(mpi), "1/3");
    EXPECT_EQ(automatic({{"SLURM_PROCID", "0"},
                         {"SLURM_NTASKS", "1"},
                         {"SLURM_ARRAY_TASK_ID", "1"},
                         {"SLURM_ARRAY_TASK_COUNT", "2"}}),
              "1/2");
    EXPECT_EQ(automatic({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}), "0/1");
}

// What the script of sbatch --array=0-7 without -n has, as Slurm 22.05 sets it.
TEST(ShardOf, ATaskWithoutANumberOfTasksSaysNothing) {
    EXPECT_EQ(
        automatic(
            {{"SLURM_PROCID", "0"}, {"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_COUNT", "8"}}),
        "3/8");
    EXPECT_TRUE(automatic({{"SLURM_PROCID", "0"}}).starts_with("--shard auto finds no launcher"));
}

TEST(PartFolder, IsOfOnePartAndOthersAreNotFound) {
    const std::filesystem::path out = testing::TempDir() + "parts_of_a_run";
    std::filesystem::remove_all(out);
    EXPECT_EQ(part_folder(out, {0, 1}), out);
    EXPECT_EQ(part_folder(out, {2, 8}), out / "shard-2-of-8");
    EXPECT_EQ(part_folders(out), std::vector<std::string>{out});
    for (const char* name : {"shard-1-of-2", "shard-0-of-2", "shard-2-of-2", "shard-1-of-2.kept",
                             "shard-01-of-2", "shard--of-", "other"})
        std::filesystem::create_directories(out / name);
    EXPECT_EQ(part_folders(out),
              (std::vector<std::string>{out / "shard-0-of-2", out / "shard-1-of-2"}));
}

TEST(ShardOf, RefusesWhatIsNoPlaceOrIsSaidTwice) {
    EXPECT_TRUE(automatic({}).starts_with("--shard auto finds no launcher"));
    EXPECT_EQ(automatic({{"PMI_SIZE", "2"}}), "the variable PMI_SIZE is set, and PMI_RANK is not");
    EXPECT_EQ(automatic({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}),
              "PMI_RANK=2 is no place among the PMI_SIZE=2 of PMI");
    EXPECT_EQ(automatic({{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}}),
              "the variable PMI_RANK 'x' is not a whole number");
    // Between two steps, before the first, and a step of none.
    for (const auto& [id, first, step] :
         {std::tuple{"13", "10", "2"}, std::tuple{"9", "10", "1"}, std::tuple{"10", "10", "0"}})
        EXPECT_NE(automatic({{"SLURM_ARRAY_TASK_ID", id},
                             {"SLURM_ARRAY_TASK_COUNT", "3"},
                             {"SLURM_ARRAY_TASK_MIN", first},
                             {"SLURM_ARRAY_TASK_STEP", step}})
                      .find("is no place among"),
                  std::string::npos);
    EXPECT_EQ(automatic({{"TEST_SHARD_INDEX", "0"},
                         {"TEST_TOTAL_SHARDS", "2"},
                         {"GTEST_SHARD_INDEX", "1"},
                         {"GTEST_TOTAL_SHARDS", "2"}}),
              "--shard auto: Bazel says 0/2 and GoogleTest says 1/2; say which with --shard I/N");
}

TEST(ShardOf, WhatIsTypedCountsAndALauncherThatNobodyFollowsIsNamed) {
    const Environment slurm = environment_of({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}});
    EXPECT_EQ(text_of(shard_of("0/3", slurm).value()), "0/3");
    EXPECT_EQ(ignored_shard(slurm),
              "the Slurm task says shard 1/2, and without --shard auto this run does all cases");
    EXPECT_EQ(ignored_shard(environment_of({})), "");
    EXPECT_EQ(ignored_shard(environment_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}})), "");
}

}  // namespace
}  // namespace mx::session
