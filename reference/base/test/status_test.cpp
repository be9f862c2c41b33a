// What holds of an Expected that no name keeps.
#include "reference/base/status.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace mx {
namespace {

struct Table {
    std::vector<int> rows;
    std::shared_ptr<int> life;
};

Expected<Table> table_watched_by(std::weak_ptr<int>& watcher) {
    auto life = std::make_shared<int>(0);
    watcher = life;
    return Table{{1, 2, 3}, std::move(life)};
}

// A temporary inside a range of C++20 ends before the loop begins, unless it is the range itself.
TEST(Expected, ALoopOverAMemberOfTheValueKeepsTheValue) {
    std::weak_ptr<int> watcher;
    int visited = 0;
    for (const int row : table_watched_by(watcher).value().rows) {
        ASSERT_FALSE(watcher.expired()) << "row " << row;
        ++visited;
    }
    EXPECT_EQ(visited, 3);
    EXPECT_TRUE(watcher.expired());
}

}  // namespace
}  // namespace mx
