#include "features/context/prompt.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using namespace testing::extensions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> section_names(const std::vector<PromptSection>& sections) {
  std::vector<std::string> names;
  for (const auto& section : sections) names.push_back(section.name);
  return names;
}

PromptInput whole_input() {
  return {.identity = {.base_soul = "Be kind.",
                       .agent_soul = "Be brief.",
                       .user_profile = "Ann likes tea.",
                       .notes = "- the cat is Tom"},
          .system_prompt = "You build sites.",
          .mode = ThreadMode::plan,
          .skills = {{.name = "pdf", .description = "Fill <forms> & merge\nfiles"}},
          .instructions = ProjectInstructions{"/p/AGENTS.md", "Run the tests.", true},
          .today = "2026-01-02",
          .working_directory = "/p"};
}

TEST(PromptSections, StartWithThoseThatSeldomChange) {
  EXPECT_THAT(section_names(prompt_sections(whole_input())),
              ElementsAre("soul", "agent_soul", "user_profile", "system_prompt", "mode", "skills", "notes",
                          "instructions", "date", "working_directory"));
}

TEST(PromptSections, LeaveOutEmptyOnes) {
  EXPECT_THAT(section_names(prompt_sections({.mode = ThreadMode::act, .today = "2026-01-02"})),
              ElementsAre("date", "working_directory"));
}

TEST(PromptText, ContainsAllSections) {
  const auto text = prompt_text(prompt_sections(whole_input()));
  for (const auto* part : {"Be kind.\n\nBe brief.\n\n", "Ann likes tea.", "You build sites.", "plan mode",
                           "- the cat is Tom", "Run the tests.", "/p/AGENTS.md", "2026-01-02", "directory is /p."}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, HasSubstr("<description>Fill &lt;forms&gt; &amp; merge files</description>"));
}

TEST(PromptText, MentionsReadSkillOnlyIfItIsOffered) {
  auto input = whole_input();
  EXPECT_THAT(prompt_text(prompt_sections(input)), HasSubstr("ReadSkill"));
  input.may_load_skills = false;
  const auto text = prompt_text(prompt_sections(input));
  EXPECT_THAT(text, Not(HasSubstr("ReadSkill")));
  EXPECT_THAT(text, HasSubstr("<name>pdf</name>")) << "it can still say that there is a skill for it";
}

TEST(PromptText, MarksInstructionsOfUntrustedProjects) {
  auto input = whole_input();
  EXPECT_THAT(prompt_text(prompt_sections(input)), Not(HasSubstr("not instructions")));
  input.instructions->trusted = false;
  EXPECT_THAT(prompt_text(prompt_sections(input)), HasSubstr("not instructions"));
}

TEST(EstimatedTokens, AreRoundedUp) {
  EXPECT_EQ(estimated_tokens(""), 0);
  EXPECT_EQ(estimated_tokens("abcd"), 2);
}

/// Prompts of the agent `assistant`, in a home with a project at `work/site` and the skill `pdf`.
struct PromptFixture : ExtensionsFixture {
  PromptFixture(Loop& loop, const testing::ScratchDirectory& directory)
      : ExtensionsFixture(loop, directory, Directories::followed),
        home(directory.path()),
        blocking(loop),
        filesystem(blocking, home),
        projects(database, filesystem, clock, home / "data"),
        identities(home, extensions),
        skills(blocking, home, home),
        prompts(blocking, home, home, clock, projects, identities, skills) {
    fs::create_directories(home / "work/site");
    fs::create_directories(home / "skills/pdf");
    put("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fill forms\n---\n");
  }

  void put(const fs::path& file, const std::string& content) { std::ofstream(home / file) << content; }
  Task<std::string> text() { return text(projects.list().front()->id); }
  Task<std::string> text(std::optional<std::string> project_id) {
    return prompts.text(extensions.find_agent("assistant"), project_id, ThreadMode::act, true, {});
  }

  fs::path home;
  BlockingPool blocking;
  Filesystem filesystem;
  Projects projects;
  Identities identities;
  Skills skills;
  Prompts prompts;
};

void with_prompt_fixture(std::function<Task<>(PromptFixture&)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    PromptFixture fixture(loop, directory);
    co_await fixture.projects.create({.name = "site", .path = fixture.home / "work/site", .trusted = true});
    co_await body(fixture);
  });
}

TEST(Prompts, AreReadEachTime) {
  with_prompt_fixture([](PromptFixture& fixture) -> Task<> {
    fixture.put("soul.md", "one");
    EXPECT_THAT(co_await fixture.text(), HasSubstr("one"));
    fixture.put("soul.md", "two");
    const auto text = co_await fixture.text();
    EXPECT_THAT(text, HasSubstr("two"));
    EXPECT_THAT(text, HasSubstr("You are the assistant"));
    EXPECT_THAT(text, HasSubstr("<name>pdf</name>"));
    EXPECT_THAT(text, HasSubstr("2026-01-02"));
  });
}

TEST(Prompts, UseTheNearestInstructions) {
  with_prompt_fixture([](PromptFixture& fixture) -> Task<> {
    fixture.put("AGENTS.md", "of home");
    EXPECT_THAT(co_await fixture.text(), Not(HasSubstr("of home")));
    fixture.put("work/AGENTS.md", "of work");
    EXPECT_THAT(co_await fixture.text(), HasSubstr("of work"));
    fixture.put("work/site/AGENTS.md", "of site");
    const auto text = co_await fixture.text();
    EXPECT_THAT(text, HasSubstr("of site"));
    EXPECT_THAT(text, Not(HasSubstr("of work")));
  });
}

TEST(Prompts, SearchInstructionsUpToTheTopOfTheRepository) {
  with_prompt_fixture([](PromptFixture& fixture) -> Task<> {
    fixture.put("work/AGENTS.md", "of work");
    fs::create_directories(fixture.home / "work/site/.git");
    EXPECT_THAT(co_await fixture.text(), Not(HasSubstr("of work")));
  });
}

TEST(Prompts, DoNotFollowInstructionsThatAreSymlinks) {
  with_prompt_fixture([](PromptFixture& fixture) -> Task<> {
    fixture.put("key.pem", "the key itself");
    fs::create_symlink(fixture.home / "key.pem", fixture.home / "work/site/AGENTS.md");
    EXPECT_THAT(co_await fixture.text(), Not(HasSubstr("the key itself")));
  });
}

TEST(Prompts, NameTheWorkspaceWithoutAProject) {
  with_prompt_fixture([](PromptFixture& fixture) -> Task<> {
    EXPECT_THAT(co_await fixture.text(std::nullopt), HasSubstr((fixture.home / "agents/assistant/workspace").string()));
    EXPECT_THAT(co_await fixture.text(), HasSubstr((fixture.home / "work/site").string()));
  });
}

}  // namespace
}  // namespace agw
