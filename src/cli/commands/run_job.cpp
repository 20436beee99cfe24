#include <unistd.h>

#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/client/job_follower.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"

namespace agw::cli {

namespace {

struct RunOptions {
  std::string job;
  bool dry = false;
  bool follow = false;
  ListOptions list;
};

Task<Client::StartedRun> start(const Client& client, const RunOptions& options) {
  const auto dry = options.dry ? std::optional<std::string>("true") : std::nullopt;
  return client.start_run(path({"run", options.job}, {{"dry", dry}}));
}

/// The exit status; prints why the run did not succeed. One that was not needed is no failure.
int status_of(const json::object& ended, AnswerPrinter& printer) {
  const auto status = string_member(ended, "status").value_or("");
  if (status == "completed") return 0;
  const auto why = string_member(ended, "error");
  if (status == "skipped") {
    printer.note(fmt::format("The run was skipped: {}", why.value_or("it was not needed")));
    return 0;
  }
  printer.error(why ? fmt::format("the run {}: {}", status, *why) : fmt::format("the run was {}", status));
  return 1;
}

Task<int> run_and_follow(FoundGateway gateway, const RunOptions& options) {
  const Client client(gateway);
  const auto started = co_await start(client, options);
  if (started.id.empty())
    throw std::runtime_error("the run was started, but the gateway is of a version that does not name it: restart it");
  std::ostream nowhere(nullptr);
  AnswerPrinter printer(options.list.json ? nowhere : std::cout, terminal_at(STDOUT_FILENO), std::cerr,
                        terminal_at(STDERR_FILENO));
  JobFollower follower(
      gateway, options.list.data_dir,
      {.job = options.job, .run_id = started.id, .thread_id = string_or_empty(started.body, "threadId")}, printer);
  const auto ended = co_await follower.follow();
  if (options.list.json) print_json(ended);
  co_return status_of(ended, printer);
}

Task<int> run_only(const FoundGateway& gateway, const RunOptions& options) {
  const auto started = (co_await start(Client(gateway), options)).body;
  if (options.list.json) {
    print_json(started);
    co_return 0;
  }
  const auto job = one_line(string_member(started, "job").value_or(""));
  std::cerr << fmt::format("{} {}. Its output is in thread {}; how it went: agw jobs {}\n", job,
                           options.dry ? "makes a dry run" : "was started",
                           one_line(string_member(started, "threadId").value_or("")), job);
  co_return 0;
}

}  // namespace

Action run_command(Arguments& arguments) {
  auto options = std::make_shared<RunOptions>();
  arguments.word("job", options->job, "The job's name or id");
  arguments.flag("--dry", options->dry, "Only report what would be done: nothing is written, executed or called");
  arguments.flag("--follow", options->follow,
                 "Print the output until the run ends; with --json, print the run's record at its end");
  declare(arguments, options->list);
  return [options] {
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, options->follow ? run_and_follow(gateway, *options) : run_only(gateway, *options));
  };
}

}  // namespace agw::cli
