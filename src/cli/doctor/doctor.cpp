#include "cli/doctor/doctor.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/terminal.hpp"
#include "storage/backup.hpp"

namespace agw::cli {

namespace {

std::string_view to_text(CheckResult::State state) {
  switch (state) {
    case CheckResult::State::good:
      return "ok";
    case CheckResult::State::skipped:
      return "skipped";
    case CheckResult::State::warning:
      return "warning";
    case CheckResult::State::failure:
      return "failure";
  }
  return {};
}

Task<int> examine(Loop& loop, CheckResults& results, const std::optional<std::string>& data_dir) {
  DoctorContext context{
      .directory = find_data_directory(data_dir, process_environment()), .settings = {}, .gateway = {}};
  append(results, check_files(context));
  if (is_closed_to_us(context)) co_return 0;
  append(results, check_configuration(context));
  append(results, check_start(context));
  append(results, co_await check_gateway(context, data_dir));
  append(results, check_database(context));
  append(results, check_events_server(context));
  append(results, check_host(context));
  append(results, co_await check_models(loop, context));
  append(results, check_web_search(context));
  append(results, co_await check_apps(context));
  co_return 0;
}

std::string label(const Terminal& terminal, CheckResult::State state) {
  auto text = fmt::format("{:8}", to_text(state));
  if (!terminal.colours) return text;
  const int colour = state == CheckResult::State::good ? 32 : state == CheckResult::State::failure ? 31 : 33;
  return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
}

void print(const CheckResults& results) {
  const auto terminal = terminal_at(STDOUT_FILENO);
  for (const auto& result : results) {
    std::cout << fmt::format("{} {:14} {}\n", label(terminal, result.state), result.check, one_line(result.what));
    if (!result.remedy.empty()) std::cout << fmt::format("{:24}-> {}\n", "", one_line(result.remedy));
  }
}

json::array as_json(const CheckResults& results) {
  json::array list;
  for (const auto& result : results) {
    list.push_back(json::object{{"check", result.check},
                                {"state", to_text(result.state)},
                                {"what", result.what},
                                {"remedy", result.remedy.empty() ? json::value() : json::value(result.remedy)}});
  }
  return list;
}

struct DoctorOptions : ListOptions {
  bool database = false;
};

/// Gives the gateway's own work priority.
void yield_to_others() {
  constexpr int lowest_priority = 19;
  constexpr int idle_class = 3 << 13;  // ioprio_set(2): only while the disk is otherwise idle
  constexpr int this_process = 1;
  ::setpriority(PRIO_PROCESS, 0, lowest_priority);
  ::syscall(SYS_ioprio_set, this_process, 0, idle_class);
}

int check_database_only(const DoctorOptions& options) {
  yield_to_others();
  DoctorContext context{
      .directory = find_data_directory(options.data_dir, process_environment()), .settings = {}, .gateway = {}};
  if (is_closed_to_us(context)) {
    const auto closed = check_files(context).front();
    std::cout << fmt::format("{}: {}\n", closed.what, closed.remedy);
    return 1;
  }
  check_configuration(context);
  if (context.settings && !context.settings->cluster.database.empty()) {
    const auto result = check_database_server(context).front();
    std::cout << result.what << '\n';
    return result.state == CheckResult::State::good ? 0 : 1;
  }
  const auto file = data_directory(options.data_dir) / data_files::database;
  const auto problem = quick_database_problem(file, FileUse::shared);
  std::cout << (problem ? problem->of(file) : file.string() + " is intact") << '\n';
  return problem ? 1 : 0;
}

int doctor(const DoctorOptions& options) {
  if (options.database) return check_database_only(options);
  Loop loop;
  CheckResults results;
  run(loop, examine(loop, results, options.data_dir));
  if (options.json)
    print_json(as_json(results));
  else
    print(results);
  const bool failed = std::ranges::any_of(
      results, [](const CheckResult& result) { return result.state == CheckResult::State::failure; });
  return failed ? 1 : 0;
}

}  // namespace

std::string obstruction_remedy(const std::filesystem::path& path) {
  return fmt::format("mv {} {}", shell_quoted(path.string()), shell_quoted(path.string() + ".old"));
}

std::optional<std::filesystem::path> own_directory_of(const DoctorContext& context) {
  try {
    return own_directory(context.directory.path);
  } catch (const StartError&) {
    return std::nullopt;
  }
}

Action doctor_command(Arguments& arguments) {
  auto options = std::make_shared<DoctorOptions>();
  declare(arguments, *options, "Print the results as JSON");
  arguments.flag("--database", options->database, "Check only the database, slowly, without disturbing the gateway");
  return [options] { return doctor(*options); };
}

}  // namespace agw::cli
