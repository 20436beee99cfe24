// A process killed between any two steps of a decision leaves the proposal either pending or decided.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "api/idempotency_store.hpp"
#include "features/events/hub.hpp"
#include "features/experiments/service.hpp"
#include "features/proposals/service.hpp"
#include "storage/database.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

const ProposalAddress proposal{"writer", "2026-01-02", std::nullopt};
constexpr auto target = "agents/writer/agent.yaml";
constexpr auto old_text = "description: old\n";
constexpr auto new_text = "# approved\ndescription: new\n";

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Like the response to a request with an Idempotency-Key.

void store_response(Connection& connection, const ProposalDecided& decided) {
  idempotency_store::store(connection, "/path", "key", {.status = 200, .body = to_json(decided)}, Timestamp{1s},
                           Timestamp{});
}

bool has_response(Connection& connection) {
  return idempotency_store::find(connection, "/path", "key", Timestamp{}).has_value();
}

/// The part of the gateway that decides proposals, on a data directory that outlives it.
struct ProposalsFixture {
  ProposalsFixture(Loop& loop, const fs::path& data, std::function<void(std::string_view)> before_step = {})
      : database(loop, {.file = data / "gateway.db", .backups = data / "backups"}),
        blocking(loop),
        filesystem(blocking, data),
        projects(database, filesystem, clock, data),
        outbox(loop, database, data),
        extensions(database, hub, clock, &outbox),
        experiments(database),
        proposals(loop, database, hub, clock, projects, extensions,
                  {.data_directory = data, .before_step = std::move(before_step)}) {
    extensions.load(database.start_connection());
    proposals.load(database.start_connection());
  }

  SystemClock clock;
  Database database;
  Hub hub;
  BlockingPool blocking;
  Filesystem filesystem;
  Projects projects;
  ExtensionOutbox outbox;
  Extensions extensions;
  Experiments experiments;
  Proposals proposals;
};

struct Outcome {
  std::string status;
  std::string file;
  std::string description;
  std::size_t experiments = 0;
  bool operator==(const Outcome&) const = default;
};
void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << outcome.status << " '" << outcome.file << "' '" << outcome.description << "' " << outcome.experiments;
}

Outcome after_a_start(const fs::path& data) {
  Outcome outcome;
  testing::run([&](Loop& loop) -> Task<> {
    ProposalsFixture fixture(loop, data);
    co_await fixture.proposals.recover();
    outcome.status = to_text((co_await fixture.proposals.require(proposal)).status);
    outcome.file = read_file(data / target);
    outcome.description = fixture.extensions.require("writer")->description;
    outcome.experiments = (co_await fixture.experiments.list({})).size();
    EXPECT_EQ((co_await fixture.proposals.pending()).size(), outcome.status == "pending" ? 1u : 0u);
    EXPECT_EQ(co_await fixture.database.read(has_response), outcome.status != "pending");
  });
  return outcome;
}

/// Applies or rejects in a process that is killed before its n-th step; returns whether there was such a step.
bool decide_and_kill(const fs::path& data, bool applies, int last) {
  const pid_t child = fork();
  if (child == 0) {
    testing::run([&](Loop& loop) -> Task<> {
      int steps = 0;
      ProposalsFixture fixture(loop, data, [&](std::string_view) {
        if (++steps == last) kill(getpid(), SIGKILL);
      });
      if (applies)
        co_await fixture.proposals.apply(proposal, {}, store_response);
      else
        co_await fixture.proposals.reject(proposal, {}, store_response);
    });
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

void set_up(const fs::path& data) {
  write_file(data / target, old_text);
  write_file(data / "autoresearch/proposals/writer/2026-01-02.md",
             std::string("---\ntitle: t\ntype: extension\ntarget: ") + target + "\n---\n" + new_text);
  testing::run([&](Loop& loop) -> Task<> {
    ProposalsFixture fixture(loop, data);
    co_return;
  });
}

int kill_at_each_step(bool applies, const Outcome& before, const Outcome& after) {
  int step = 1;
  for (bool was_killed = true; was_killed; ++step) {
    const testing::ScratchDirectory directory;
    set_up(directory.path());
    was_killed = decide_and_kill(directory.path(), applies, step);
    const auto outcome = after_a_start(directory.path());
    EXPECT_TRUE(outcome == (step == 1 ? before : after))
        << "killed before step " << step << ": " << ::testing::PrintToString(outcome);
    EXPECT_TRUE(after_a_start(directory.path()) == outcome) << "a further start changes nothing";
  }
  return step - 2;
}

const Outcome untouched{"pending", old_text, "old", 0};

TEST(ProposalCrash, AKillAtAnyStepOfAnApplicationLeavesItPendingOrApplied) {
  EXPECT_EQ(kill_at_each_step(true, untouched, {"applied", new_text, "new", 1}), 6);
}

TEST(ProposalCrash, AKillAtAnyStepOfARejectionLeavesItPendingOrRejected) {
  EXPECT_EQ(kill_at_each_step(false, untouched, {"rejected", old_text, "old", 1}), 3);
}

/// The state after a kill: the decision is recorded, but the remaining steps cannot succeed.
TEST(ProposalCrash, WhatCannotBeFinishedIsPendingAgain) {
  const testing::ScratchDirectory directory;
  const auto& data = directory.path();
  set_up(data);
  ASSERT_TRUE(decide_and_kill(data, true, 2));
  write_file(data / "elsewhere", "");
  fs::rename(data / "agents", data / "moved");
  fs::create_directory_symlink("/", data / "agents");
  testing::run([&](Loop& loop) -> Task<> {
    ProposalsFixture fixture(loop, data);
    co_await fixture.proposals.recover();
    EXPECT_EQ(to_text((co_await fixture.proposals.require(proposal)).status), "pending");
    EXPECT_EQ((co_await fixture.experiments.list({})).size(), 0u);
    EXPECT_FALSE(co_await fixture.database.read(has_response));
  });
}

}  // namespace
}  // namespace agw
