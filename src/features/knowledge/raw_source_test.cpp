#include "features/knowledge/raw_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> tags_of(std::string_view text) { return page_of_source("raw/a.md", text).page.head.tags; }

TEST(PageOfSource, TagsAreWordsOfHeadingsThatTheTextRepeatsMostFrequentFirst) {
  EXPECT_THAT(
      tags_of("# Backup of Servers\n\n## Restore\n\nServers need a backup. Servers: one BACKUP each. Servers restore."),
      ElementsAre("servers", "backup", "restore"));
}

TEST(PageOfSource, WordsThatOnlyTheTextOrOnlyAHeadingHasAreNoTags) {
  EXPECT_THAT(tags_of("# Deployment\n\nMachine, machine, machine.\n"), IsEmpty());
}

TEST(PageOfSource, ShortWordsNumbersAndStopWordsAreNoTags) {
  EXPECT_THAT(tags_of("# This tag of 2026\n\nThis tag of 2026, this tag of 2026.\n"), IsEmpty());
}

TEST(PageOfSource, HasAtMostFiveTagsInAlphabeticalOrderIfEquallyFrequent) {
  EXPECT_THAT(tags_of("# foxtrot echo-delta charlie bravo alpha\n\nalpha bravo charlie delta echo foxtrot, alpha bravo "
                      "charlie delta echo foxtrot.\n"),
              ElementsAre("alpha", "bravo", "charlie", "delta", "echo"));
}

}  // namespace

}  // namespace agw
