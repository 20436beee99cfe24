#include "io/sandbox/sandbox_prologue.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/json/json.hpp"
#include "base/printable.hpp"
#include "base/text/ascii.hpp"
#include "io/process/process.hpp"
#include "io/sandbox/sandbox.hpp"

namespace agw {

namespace {

using PrologueVariables = std::map<std::string, std::string>;

/// Restores the default action of SIGTERM, which bubblewrap itself ignores so that the command has time to handle it. A
/// shell cannot do that.
constexpr std::array with_signals{"/usr/bin/env", "--default-signal=TERM", "--"};

/// Takes limits, roots and `--` from its parameters. If the gateway is killed while bubblewrap sets up the sandbox,
/// bubblewrap does not notice, so the script checks it. It does so once the sandbox's first process would notice by
/// itself: bubblewrap installs its system call filter just after it has bound the process to its parent's life
/// (`do_init`). Limits must be set inside, because processes are counted per user namespace. The exposed files must be
/// those that were scanned, not replacements by another program.
///
/// The gateway is alive if the kernel has not begun to end it: PF_EXITING (4) in the flags of /proc/<pid>/stat, the
/// seventh value after the name (proc(5)). A pipe that its end closes would be too late: when the kernel ends the
/// threads of a process, they leave bubblewrap without a parent before the last of them closes the files. The line is
/// cut first, because bash tries each of its beginnings.
constexpr auto checks =
    "until [[ ${status[*]} == *Seccomp:$'\\t'2* ]]; do mapfile -t status </proc/1/status; done; unset status\n"
    "read -r -u 4 gateway && exec 4<&- && gateway=${gateway:0:96} && gateway=(${gateway##*) }) || exit 1\n"
    "if ((gateway[6] & 4)); then exit 1; fi; unset gateway\n"
    "ulimit -c 0 -d \"$1\" -f \"$2\" -u \"$3\" || exit 1\n"
    "shift 3; fd=6\n"
    "while [ \"$1\" != -- ]; do\n"
    "  if ! [ \"$1\" -ef /proc/self/fd/$fd ]; then echo \"$1 was replaced meanwhile\" >&2; exit 1; fi\n"
    "  exec {fd}<&-; fd=$((fd + 1)); shift\n"
    "done; shift; unset fd\n"
    "if [ -e /proc/self/fd/199 ]; then\n"
    "  IFS= read -r network <&199 || exit 1; exec 199<&-\n"
    "  if [ \"$network\" != ready ]; then echo \"$network\" >&2; exit 1; fi; unset network\n"
    "fi\n"
    "set_variables() { unset variables; export -- \"$@\" || exit 1; }\n"
    "if [ -e /proc/self/fd/5 ]; then\n"
    "  mapfile -d '' -t variables <&5; exec 5<&-\n"
    "  set_variables \"${variables[@]}\"\n"
    "fi; unset -f set_variables\n";

/// The locale is set last, because loading one takes half a millisecond per program.
constexpr auto execute_the_command = "exec \"${@:1:3}\" LANG=\"${LANG-C.UTF-8}\" \"${@:4}\"";
constexpr auto let_the_command_follow = "exec 195<&-; unset BASH_ENV; export LANG=\"${LANG-C.UTF-8}\"\n";

SandboxArguments checked(const SandboxSpec& spec) {
  constexpr std::int64_t kibibytes = 1024;
  AGW_DEBUG_ASSERT(spec.memory_mb > 0);
  AGW_DEBUG_ASSERT(spec.file_mb > 0);
  AGW_DEBUG_ASSERT(spec.processes > 0);
  SandboxArguments out{std::to_string(spec.memory_mb * kibibytes), std::to_string(spec.file_mb * kibibytes),
                       std::to_string(spec.processes)};
  for (const auto* list : {&spec.writable, &spec.readable}) append(out, SandboxArguments(list->begin(), list->end()));
  out.emplace_back("--");
  return out;
}

/// Whether a shell, or its loader, reads the variable when it starts.
bool is_read_at_the_start(const std::string& name) {
  constexpr std::array names{"SHELLOPTS", "POSIXLY_CORRECT", "IFS", "GLIBC_TUNABLES"};
  return name.starts_with("BASH") || name.starts_with("LD_") ||
         std::ranges::any_of(names, [&](const char* each) { return name == each; });
}

/// Whether the shell that has read the script can run the command itself, which saves the start of another one.
bool may_follow(const std::vector<std::string>& command, const PrologueVariables& variables) {
  return command.size() == 3 && command[0] == "/bin/bash" && command[1] == "-c" &&
         std::ranges::none_of(variables, [](const auto& each) { return is_read_at_the_start(each.first); });
}

/// Bash reads this script before its command, because of BASH_ENV.
std::string script_before(const SandboxSpec& spec) {
  std::string script = "set --";
  for (const auto& each : checked(spec)) script += ' ' + shell_quoted(each);
  return script + '\n' + checks + let_the_command_follow;
}

/// The command's variables are set last: earlier, they would affect programs loaded by bubblewrap and the prologue,
/// which can still access more than the command (`LD_PRELOAD`, `BASH_ENV`). As arguments they would be visible to all
/// users of the host.
std::shared_ptr<Descriptor> file_of(const PrologueVariables& variables) {
  std::string content;
  for (const auto& [name, value] : variables) content += name + "=" + value + '\0';
  return memory_file("agw-environment", content);
}

}  // namespace

std::shared_ptr<Descriptor> memory_file(const char* name, std::string_view content) {
  auto file = std::make_shared<Descriptor>(::memfd_create(name, MFD_CLOEXEC));
  if (!*file || ::write(file->get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      ::lseek(file->get(), 0, SEEK_SET) != 0) {
    throw ProcessError(fmt::format("cannot hand over {} to the sandbox", name));
  }
  return file;
}

void SandboxPrologue::check_names(const PrologueVariables& variables) {
  for (const auto& [name, value] : variables) {
    if (!is_variable_name(name)) {
      throw ProcessError(fmt::format("environment: `{}` is not the name of a variable", to_utf8(name)));
    }
    if (value.find('\0') != value.npos) {
      throw ProcessError("environment: not a possible environment, because it holds a NUL character");
    }
  }
}

SandboxPrologue::SandboxPrologue(const SandboxSpec& spec, std::vector<std::string> command,
                                 const PrologueVariables& variables) {
  AGW_ASSERT(!command.empty());
  // The script reads them up to the next NUL.
  AGW_DEBUG_ASSERT(std::ranges::none_of(
      variables, [](const auto& each) { return each.first.empty() || each.second.find('\0') != each.second.npos; }));
  if (!variables.empty()) descriptors_.emplace_back(file_of(variables), variables_descriptor);
  const SandboxArguments signals(with_signals.begin(), with_signals.end());
  if (may_follow(command, variables)) {
    descriptors_.emplace_back(memory_file("agw-prologue", script_before(spec)), script_descriptor);
    arguments_ = signals;
    arguments_.push_back(fmt::format("BASH_ENV=/proc/self/fd/{}", script_descriptor));
  } else {
    arguments_ = {"/bin/bash", "-c", std::string(checks) + execute_the_command, "sandbox"};
    append(arguments_, checked(spec));
    append(arguments_, signals);
  }
  append(arguments_, std::move(command));
}

}  // namespace agw
