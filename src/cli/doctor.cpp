#include "cli/doctor.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "cli/client.hpp"
#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/list.hpp"
#include "cli/printable.hpp"
#include "cli/terminal.hpp"

namespace agw::cli {

namespace {

std::string_view to_text(Finding::State state) {
  switch (state) {
    case Finding::State::good:
      return "ok";
    case Finding::State::skipped:
      return "skipped";
    case Finding::State::warning:
      return "warning";
    case Finding::State::failure:
      return "failure";
  }
  return {};
}

void append(Findings& all, Findings more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Task<int> examine(Loop& loop, Findings& findings, const std::optional<std::string>& data_dir) {
  Patient patient{.directory = find_data_directory(data_dir, process_environment()), .settings = {}, .gateway = {}};
  append(findings, check_files(patient));
  append(findings, check_configuration(patient));
  append(findings, check_start(patient));
  append(findings, co_await check_gateway(patient, data_dir));
  append(findings, check_stored(patient));
  append(findings, check_host(patient));
  append(findings, co_await check_models(loop, patient));
  append(findings, co_await check_apps(patient));
  co_return 0;
}

std::string label(const Terminal& terminal, Finding::State state) {
  auto text = fmt::format("{:8}", to_text(state));
  if (!terminal.colours) return text;
  const int colour = state == Finding::State::good ? 32 : state == Finding::State::failure ? 31 : 33;
  return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
}

void print(const Findings& findings) {
  const auto terminal = terminal_at(STDOUT_FILENO);
  for (const auto& finding : findings) {
    std::cout << fmt::format("{} {:14} {}\n", label(terminal, finding.state), finding.check, one_line(finding.what));
    if (!finding.remedy.empty()) std::cout << fmt::format("{:24}-> {}\n", "", one_line(finding.remedy));
  }
}

json::array as_json(const Findings& findings) {
  json::array list;
  for (const auto& finding : findings) {
    list.push_back(json::object{{"check", finding.check},
                                {"state", to_text(finding.state)},
                                {"what", finding.what},
                                {"remedy", finding.remedy.empty() ? json::value() : json::value(finding.remedy)}});
  }
  return list;
}

int doctor(const ListOptions& options) {
  Loop loop;
  Findings findings;
  run(loop, examine(loop, findings, options.data_dir));
  if (options.json)
    print_json(as_json(findings));
  else
    print(findings);
  const bool failed =
      std::ranges::any_of(findings, [](const Finding& finding) { return finding.state == Finding::State::failure; });
  return failed ? 1 : 0;
}

}  // namespace

std::string out_of_the_way(const std::filesystem::path& path) {
  return fmt::format("mv {} {}", in_quotes(path.string()), in_quotes(path.string() + ".old"));
}

Action doctor_command(Arguments& arguments) {
  auto options = std::make_shared<ListOptions>();
  declare(arguments, *options);
  return [options] { return doctor(*options); };
}

}  // namespace agw::cli
