// Protects a person's files from commands. docs/design/sandbox.md has the reasons, and the alternatives that were tried
// and rejected.
//
// A *root* is a path that the command may access, writable or readable. In it, a *private* path is covered by an empty
// mount, and a *guarded* path (.git/hooks, .git/config, .agents …) is mounted read-only. A *placeholder* occupies a
// guarded path that does not exist, so that the command cannot create it. The *prologue* is a shell script that runs in
// the sandbox before the command (sandbox_prologue).
//
// The invariant: from the first instruction of the command to the end of its last descendant, it sees the roots that
// were scanned and no private file, and cannot change guarded paths. This holds although commands of agents may rename,
// link and replace files in other sandboxes at the same time.
//
//   1. Open each root and require that it is its own real path. Held open, it can be recognised later.
//   2. Scan it for private and guarded paths, and create the placeholders (masked_paths, sandbox_placeholders).
//   3. Mount in the order of depth. Directories on the way to a protected path are mounts too, because a mount point
//      cannot be renamed. Nothing can be mounted over a symlink: if one is in the way, no command runs.
//   4. bubblewrap creates the namespaces, mounts, drops capabilities and installs the system call filter.
//   5. The prologue checks that the gateway is alive, sets limits, checks that the mounted roots are those of step 1,
//      sets the command's variables and executes the command. The variables come late, because earlier they would
//      affect programs that can see more.
//
// If the gateway is killed
//   - before 4 is complete: bubblewrap does not notice; the prologue does (descriptor 4) and exits.
//   - later: bubblewrap ends with its parent (`--die-with-parent`), and with it everything in its process namespace.
//   - in any case, placeholders stay in projects. They are recorded in a file, and the next start removes those that
//     are still as they were made.

#include "io/sandbox/sandbox.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/json/json.hpp"
#include "base/text/is_within.hpp"
#include "io/files/directory.hpp"
#include "io/process/spawn.hpp"
#include "io/sandbox/git_settings.hpp"
#include "io/sandbox/masked_paths.hpp"
#include "io/sandbox/private_files.hpp"
#include "io/sandbox/sandbox_mounts.hpp"
#include "io/sandbox/sandbox_network.hpp"
#include "io/sandbox/sandbox_placeholders.hpp"
#include "io/sandbox/sandbox_prologue.hpp"
#include "io/sandbox/system_call_filter.hpp"
#include "io/tls/trusted_roots.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr int filter_descriptor = 3;
constexpr int gateway_descriptor = SandboxPrologue::gateway_descriptor;
constexpr int first_root_descriptor = SandboxPrologue::first_root_descriptor;
// Used only with a network.
constexpr int system_certificates_descriptor = 196;
constexpr int certificates_descriptor = 197;
constexpr int information_descriptor = 198;
constexpr int ready_descriptor = SandboxPrologue::ready_descriptor;
/// Their descriptors follow one another.
constexpr std::size_t max_roots = SandboxPrologue::script_descriptor - first_root_descriptor;
// One number for two files would show a command the wrong one.
static_assert(filter_descriptor > STDERR_FILENO);
static_assert(gateway_descriptor > filter_descriptor);
static_assert(SandboxPrologue::variables_descriptor > gateway_descriptor);
static_assert(first_root_descriptor > SandboxPrologue::variables_descriptor);
static_assert(SandboxPrologue::script_descriptor > first_root_descriptor);
static_assert(system_certificates_descriptor > SandboxPrologue::script_descriptor);
static_assert(certificates_descriptor > system_certificates_descriptor);
static_assert(information_descriptor > certificates_descriptor);
static_assert(ready_descriptor > information_descriptor);
static_assert(first_spare_descriptor > ready_descriptor);
constexpr std::int64_t max_scratch_mb = 1024;
/// Each mount costs a tenth of a millisecond, and more if there are many.
constexpr std::size_t max_mounts = 1000;
constexpr auto program_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A `commondir` file that names the repository itself, which is Git's default.
constexpr auto default_commondir = ".\n";
/// An empty `config.worktree`.
constexpr auto empty_worktree_config = "\n";

std::shared_ptr<Descriptor> filter_file(UnixSockets unix_sockets) {
  return memory_file("agw-filter", system_call_filter(unix_sockets));
}

/// Each sandbox needs its own, because readers of one would share its position.
std::shared_ptr<Descriptor> state_of_gateway() {
  auto file = std::make_shared<Descriptor>(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  if (!*file) throw ProcessError("cannot hand over the gateway's state to the sandbox");
  return file;
}

using Variables = std::map<std::string, std::string>;

std::vector<std::string> environment_of(const Variables& variables, const fs::path& home) {
  Variables all{{"PATH", program_path}, {"HOME", home.string()}, {"TERM", "dumb"}, {"TMPDIR", "/tmp"}};
  for (const auto& [name, value] : variables) all[name] = value;
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& [name, value] : all) out.push_back(name + "=" + value);
  return out;
}

SandboxArguments isolation(const SandboxSpec& spec) {
  AGW_ASSERT(!(spec.host_network && spec.network));
  SandboxArguments out{"--unshare-user",
                       "--unshare-pid",
                       "--unshare-ipc",
                       "--unshare-uts",
                       "--unshare-cgroup-try",
                       "--hostname",
                       "sandbox",
                       "--cap-drop",
                       "ALL",
                       "--die-with-parent",
                       "--seccomp",
                       std::to_string(filter_descriptor)};
  if (!spec.host_network) out.emplace_back("--unshare-net");
  if (spec.network) append(out, {"--info-fd", std::to_string(information_descriptor)});
  return out;
}

bool is_shown(const fs::path& path, const SandboxSpec& spec) {
  const auto beneath = [&](const fs::path& root) { return is_within(path, root); };
  return std::ranges::any_of(spec.writable, beneath) || std::ranges::any_of(spec.readable, beneath);
}

constexpr auto how_to_go_on =
    "or set `sandbox: none` in config.yaml, with which commands of agents can do whatever you can";

std::string why_not(const std::string& said) {
  const auto line = said.substr(0, said.find('\n'));
  return fmt::format(
      "this host does not let commands be sandboxed ({}). Allow unprivileged user namespaces (Debian: sysctl "
      "kernel.unprivileged_userns_clone=1; Ubuntu: an AppArmor profile for bwrap, or sysctl "
      "kernel.apparmor_restrict_unprivileged_userns=0; Docker: --security-opt seccomp=unconfined --security-opt "
      "systempaths=unconfined), {}",
      line.empty() ? "bubblewrap failed" : line, how_to_go_on);
}

}  // namespace

struct Sandbox::Probe {
  std::mutex mutex;
  bool has_succeeded = false;
};

Sandbox::Sandbox(Options options)
    : options_(std::move(options)),
      placeholders_(std::make_shared<SandboxPlaceholders>(options_.own_directory.empty() ? options_.data_directory
                                                                                         : options_.own_directory)),
      probe_(std::make_unique<Probe>()) {}

Sandbox::~Sandbox() = default;

namespace {

/// The standard error of a failed program; nullopt if it succeeds.
std::optional<std::string> startup_error(SpawnOptions plan) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  append(plan.environment, {"LC_ALL=C"});
  for (const auto number : {STDIN_FILENO, STDOUT_FILENO}) plan.descriptors.emplace_back(nothing.get(), number);
  plan.descriptors.emplace_back(writing.get(), STDERR_FILENO);
  const auto child = spawn(plan);
  AGW_ASSERT(child.id > 1);
  writing = Descriptor();
  std::string said(4096, '\0');
  const auto size = ::read(reading.get(), said.data(), said.size());
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child.id), &ended, WEXITED);
  if (ended.si_code == CLD_EXITED && ended.si_status == 0) return std::nullopt;
  return said;
}

SandboxArguments sandboxed(const std::string& program, SandboxArguments mounts, const SandboxSpec& spec,
                           SandboxArguments inside) {
  AGW_ASSERT(!program.empty());
  AGW_ASSERT(!inside.empty());
  AGW_ASSERT(!spec.directory.empty());
  SandboxArguments out{program};
  append(out, isolation(spec));
  append(out, std::move(mounts));
  append(out, {"--chdir", spec.directory.string(), "--"});
  append(out, std::move(inside));
  return out;
}

std::optional<std::string> probe(const std::string& name) {
  const auto program = find_program(name, program_path);
  if (::access(program.c_str(), X_OK) != 0) {
    return fmt::format(
        "bubblewrap is not installed, which keeps commands of agents apart from your files. Install it "
        "(Debian and Ubuntu: apt install bubblewrap), {}",
        how_to_go_on);
  }
  const SandboxSpec spec{.directory = "/"};
  const SandboxPrologue prologue(spec, {"/bin/true"}, {});
  const auto filter = filter_file(UnixSockets::denied);
  const auto gateway = state_of_gateway();
  const SpawnOptions plan{.program = program,
                          .arguments = sandboxed(program, SandboxMounts().arguments(1), spec, prologue.arguments()),
                          .environment = environment_of({}, "/"),
                          .directory = "/",
                          .descriptors = {{filter->get(), filter_descriptor}, {gateway->get(), gateway_descriptor}}};
  const auto complaint = startup_error(plan);
  return complaint ? std::optional(why_not(*complaint)) : std::nullopt;
}

}  // namespace

std::optional<std::string> Sandbox::problem() const {
  if (!options_.enabled) return std::nullopt;
  const std::lock_guard lock(probe_->mutex);
  if (probe_->has_succeeded) return std::nullopt;
  try {
    auto problem = probe(options_.program);
    probe_->has_succeeded = !problem;
    return problem;
  } catch (const std::exception& error) {
    return fmt::format("commands cannot be sandboxed now: {}", error.what());
  }
}

/// Resources held for one command.
struct Sandbox::Resources {
  explicit Resources(std::shared_ptr<SandboxPlaceholders> from) : all(std::move(from)) {}
  ~Resources() { all->release(paths); }
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;

  bool take(const fs::path& path, std::string_view content = {}, mode_t mode = 0755) {
    AGW_ASSERT(path.is_absolute());
    const bool held = all->hold(path, content, mode);
    if (held) paths.push_back(path);
    return held;
  }
  bool has(const fs::path& path) const { return contains(paths, path); }

  std::shared_ptr<SandboxPlaceholders> all;
  std::vector<fs::path> paths;
};

/// Opens the directory in its current state: an agent that can write in a project could replace a nested project by a
/// symlink.
std::shared_ptr<Descriptor> Sandbox::open_root(const fs::path& path, bool writable) const {
  if (is_private_path(path)) throw ProcessError(fmt::format("{} is private, no agent sees it", path.string()));
  auto root = std::make_shared<Descriptor>(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!*root) throw ProcessError(fmt::format("there is no {}", path.string()));
  const auto real = real_path(*root);
  if (real != path && (writable || is_within(path, options_.home))) {
    throw ProcessError(fmt::format("{} leads to {} now: remove the symlink that stands in its place, or name the other",
                                   path.string(), real.string()));
  }
  return root;
}

/// Returns them in the order in which the prologue checks them.
std::vector<std::shared_ptr<Descriptor>> Sandbox::open_roots(const SandboxSpec& spec) const {
  const auto count = spec.writable.size() + spec.readable.size();
  if (count > max_roots)
    throw ProcessError(
        fmt::format("{} places are named that the program may use, at most {} can be", count, max_roots));
  std::vector<std::shared_ptr<Descriptor>> roots;
  roots.reserve(count);
  for (const auto& path : spec.writable) roots.push_back(open_root(path, true));
  for (const auto& path : spec.readable) roots.push_back(open_root(path, false));
  AGW_ASSERT(roots.size() == count);
  AGW_ASSERT(roots.size() <= max_roots);
  if (!is_shown(spec.directory, spec))
    throw ProcessError(fmt::format("{} is not part of what the command may see", spec.directory.string()));
  return roots;
}

namespace {

/// Nothing can be mounted over a symlink, and the parent of a project must stay writable: otherwise a command could
/// replace the symlink by its own hooks or skills.
[[noreturn]] void refuse_symlink(const fs::path& place, const std::string& remedy) {
  throw ProcessError(fmt::format("{} is a symlink, which a command could replace: {}", place.string(), remedy));
}

void require_no_symlink(const fs::path& place) {
  std::error_code other;
  const auto target = fs::read_symlink(place, other);
  if (other) return;
  refuse_symlink(place, place.filename() == ".git"
                            ? fmt::format("put a file in its place that says `gitdir: {}`", target.string())
                            : "make it a directory, in which symlinks may lie");
}

}  // namespace

/// Adds placeholders, so that missing guarded files cannot be created.
void Sandbox::add_placeholders(MaskedPaths& masked, const fs::path& root, Resources& held) {
  const auto guard = [&](const fs::path& path, std::string_view content = {}, mode_t mode = 0755) {
    if (held.take(path, content, mode)) masked.guarded.push_back(path);
  };
  for (const auto& path : masked.missing_parents) guard(path);
  // Without execute permission, because Git would treat the directory as a hook.
  for (const auto& path : masked.missing) guard(path, {}, 0644);
  for (const auto& repository : masked.repositories) {
    if (held.has(repository)) {
      masked.guarded.push_back(repository);
      continue;
    }
    for (const auto* name : {"hooks", "config"}) guard(repository / name);
    const auto lies_in = [&](const fs::path& other) { return other != repository && is_within(repository, other); };
    const GitSettings settings(repository);
    if (settings.tolerates_commondir(root, std::ranges::any_of(masked.repositories, lies_in)))
      guard(repository / "commondir", default_commondir);
    for (const auto& path : settings.configurations_of_worktrees()) guard(path, empty_worktree_config);
    masked.ancestors.push_back(repository);
  }
}

void Sandbox::bind_writable(SandboxMounts& mounts, const fs::path& root, const FileIdentities& linked,
                            Resources& held) const {
  AGW_ASSERT(root.is_absolute());
  for (const auto* name : {".agents", ".git"}) {
    require_no_symlink(root / name);
    held.take(root / name);
  }
  auto masked = masked_paths(root, options_.data_directory, linked);
  if (!masked.passed.empty()) {
    refuse_symlink(masked.passed.front(),
                   "let the symlink in `.git` or `.agents` that leads through it lead straight to what it stands for");
  }
  add_placeholders(masked, root, held);
  mounts.show_writable(root);
  // A mount point cannot be moved away and replaced by another file of the same name.
  for (const auto& path : masked.ancestors) {
    const bool guarded = std::ranges::any_of(masked.guarded, [&](const auto& each) { return is_within(path, each); });
    if (!guarded) mounts.show_writable(path);
  }
  for (const auto& path : masked.guarded) mounts.show_read_only(path);
  hide(mounts, masked);
}

void Sandbox::bind_readable(SandboxMounts& mounts, const fs::path& root, const FileIdentities& linked) const {
  mounts.show_read_only(root);
  std::error_code missing;
  if (fs::is_directory(root, missing)) hide(mounts, masked_paths(root, options_.data_directory, linked));
}

void Sandbox::hide(SandboxMounts& mounts, const MaskedPaths& masked) {
  for (const auto& path : masked.private_directories) mounts.hide_directory(path);
  for (const auto& path : masked.private_files) mounts.hide_file(path);
  if (mounts.size() > max_mounts)
    throw ProcessError(
        "there are too many private files (such as *.pem and *.key) and repositories to keep them from the command");
  AGW_ASSERT(mounts.size() >= masked.private_directories.size() + masked.private_files.size());
}

namespace {

/// Passes the write end of a pipe to bubblewrap, which reports its child there, and the read end of another to the
/// prologue, which waits until the network is ready.
void connect_network(ProcessOptions& out, SandboxNetwork& network) {
  AGW_ASSERT(!out.started);
  int information[2] = {-1, -1};
  int ready[2] = {-1, -1};
  if (::pipe2(information, O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
  auto reports = std::make_shared<Descriptor>(information[0]);
  out.descriptors.emplace_back(std::make_shared<Descriptor>(information[1]), information_descriptor);
  if (::pipe2(ready, O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
  out.descriptors.emplace_back(std::make_shared<Descriptor>(ready[0]), ready_descriptor);
  auto answer = std::make_shared<Descriptor>(ready[1]);
  out.started = [&network, reports, answer](pid_t id) {
    AGW_ASSERT(id > 1);
    // Moved by the first call: a network serves one process.
    AGW_ASSERT(*reports);
    AGW_ASSERT(*answer);
    network.attach(id, std::move(*reports), std::move(*answer));
  };
}

/// Adds the certificates at a separate path, for programs that find it through a variable, and replaces the system's
/// file for all others.
void show_certificates(ProcessOptions& out, SandboxMounts& mounts, const SandboxNetwork& network) {
  const auto certificates = network.certificates();
  if (certificates.empty()) return;
  const auto show = [&](const fs::path& path, int descriptor) {
    mounts.show_content(path, descriptor);
    out.descriptors.emplace_back(memory_file("agw-certificates", certificates), descriptor);
  };
  show(SandboxNetwork::certificates_path, certificates_descriptor);
  if (const auto file = system_roots_file()) show(*file, system_certificates_descriptor);
}

/// Whether all numbers are different.
bool are_distinct(const ProcessOptions& options) {
  std::set<int> numbers;
  for (const auto& [descriptor, number] : options.descriptors) numbers.insert(number);
  return numbers.size() == options.descriptors.size();
}

std::int64_t scratch_mb(const SandboxSpec& spec) { return std::min(spec.memory_mb, max_scratch_mb); }

ProcessOptions without_sandbox(std::vector<std::string> arguments, const SandboxSpec& spec, const fs::path& home) {
  auto variables = spec.environment;
  variables.try_emplace("LANG", "C.UTF-8");
  return {
      .arguments = std::move(arguments), .environment = environment_of(variables, home), .directory = spec.directory};
}

}  // namespace

SandboxMounts Sandbox::mounts_of(const SandboxSpec& spec, Resources& held) const {
  AGW_ASSERT(options_.enabled);
  AGW_ASSERT(held.paths.empty());
  // `open_roots` has refused everything else.
  AGW_ASSERT(is_shown(spec.directory, spec));
  AGW_ASSERT(std::ranges::none_of(spec.writable, is_private_path));
  AGW_ASSERT(std::ranges::none_of(spec.readable, is_private_path));
  SandboxMounts mounts;
  if (options_.home != "/") mounts.empty_directory(options_.home, scratch_mb(spec));
  mounts.empty_directory(options_.data_directory, 1);
  try {
    const auto linked = hard_linked_private_files(options_.home, options_.data_directory);
    for (const auto& path : spec.readable) bind_readable(mounts, path, linked);
    for (const auto& path : spec.writable) bind_writable(mounts, path, linked, held);
    for (const auto& path : spec.unchanged) {
      if (fs::is_regular_file(fs::symlink_status(path))) mounts.show_read_only(path);
    }
  } catch (const std::runtime_error& error) {
    throw ProcessError(error.what());
  }
  AGW_ASSERT(mounts.size() > spec.writable.size() + spec.readable.size());
  return mounts;
}

ProcessOptions Sandbox::wrap(std::vector<std::string> arguments, const SandboxSpec& spec) const {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(!arguments.empty());
  AGW_ASSERT(!(spec.host_network && spec.network));
  AGW_ASSERT(!(spec.host_network && spec.unix_sockets));

  if (const auto why = problem()) throw ProcessError(*why);
  SandboxPrologue::check_names(spec.environment);
  const auto roots = open_roots(spec);
  if (!options_.enabled) return without_sandbox(std::move(arguments), spec, options_.home);
  ProcessOptions out{.environment = environment_of({}, options_.home), .directory = "/"};
  AGW_ASSERT(!roots.empty());
  const auto held = std::make_shared<Resources>(placeholders_);
  auto mounts = mounts_of(spec, *held);
  auto variables = spec.environment;
  if (spec.network) {
    show_certificates(out, mounts, *spec.network);
    variables.merge(spec.network->variables());
    connect_network(out, *spec.network);
  }
  const SandboxPrologue prologue(spec, std::move(arguments), variables);
  out.descriptors.insert(out.descriptors.end(), prologue.descriptors().begin(), prologue.descriptors().end());
  // Resolved now, not later with the PATH of the command.
  const auto program = find_program(options_.program, program_path);
  out.arguments = sandboxed(program, mounts.arguments(scratch_mb(spec)), spec, prologue.arguments());
  out.descriptors.emplace_back(filter_file(spec.unix_sockets ? UnixSockets::allowed : UnixSockets::denied),
                               filter_descriptor);
  out.descriptors.emplace_back(state_of_gateway(), gateway_descriptor);
  for (int number = first_root_descriptor; const auto& root : roots) out.descriptors.emplace_back(root, number++);
  AGW_ASSERT(are_distinct(out));
  out.ignored_signals = {SIGTERM};
  // If bubblewrap were killed during the setup, its first process would wait forever. After the setup,
  // `--die-with-parent` ends everything; the prologue detects a gateway that ended earlier.
  out.die_with_parent = false;
  out.kept = held;
  return out;
}

}  // namespace agw
