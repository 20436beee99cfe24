#include "io/sandbox/system_call_filter.hpp"

#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

namespace {

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

/// Fails as if the user lacked the permission. Skips names that a kernel or an architecture does not have.
constexpr std::array denied_calls{
    // mounts and namespaces
    "mount", "umount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "open_tree_attr", "swapon", "swapoff", "quotactl", "quotactl_fd",
    // other processes, and inspection of the kernel
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "perf_event_open",
    "bpf", "userfaultfd", "lookup_dcookie", "syslog", "fanotify_init",
    // ways around the checks of other calls
    "io_uring_setup", "io_uring_enter", "io_uring_register", "open_by_handle_at", "name_to_handle_at",
    // keys
    "add_key", "keyctl", "request_key",
    // the machine
    "acct", "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "create_module",
    "get_kernel_syms", "query_module", "nfsservctl", "sysfs", "uselib", "vm86", "vm86old", "iopl", "ioperm",
    "sethostname", "setdomainname", "settimeofday", "stime", "clock_settime", "clock_adjtime", "adjtimex", "move_pages",
    "migrate_pages", "mbind", "set_mempolicy"};

constexpr std::array denied_controls{std::uint64_t{TIOCSTI}, std::uint64_t{TIOCLINUX}};

/// The kernel uses only the lower half of these arguments, so the filter does the same.
constexpr std::uint64_t lower_half = 0xFFFF'FFFF;

constexpr int max_checked_family = 63;
// All greater families have one of the bits from there on.
static_assert(std::has_single_bit(static_cast<unsigned>(max_checked_family + 1)));
static_assert(AF_INET <= max_checked_family);
static_assert(AF_INET6 <= max_checked_family);
static_assert(AF_NETLINK <= max_checked_family);

void check(int result, const char* what) {
  if (result < 0)
    throw std::runtime_error(fmt::format("cannot make the sandbox's filter: {}: error {}", what, -result));
}

void deny(const Filter& filter, int error, const char* call) {
  const auto number = seccomp_syscall_resolve_name(call);
  if (number == __NR_SCMP_ERROR) return;
  check(seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(static_cast<unsigned>(error)), number, 0, nullptr), call);
}

/// Denies a call if the bits `mask` of an argument equal `value`.
void deny_where(const Filter& filter, int error, int call, unsigned argument, std::uint64_t mask, std::uint64_t value) {
  const scmp_arg_cmp comparison{.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
  check(seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call, 1, &comparison),
        "an argument");
}

bool is_allowed_family(int family, UnixSockets unix_sockets) {
  return family == AF_INET || family == AF_INET6 || family == AF_NETLINK ||
         (unix_sockets == UnixSockets::allowed && family == AF_UNIX);
}

void deny_socket_families(const Filter& filter, UnixSockets unix_sockets) {
  const auto refuse = [&](std::uint64_t mask, std::uint64_t value) {
    deny_where(filter, EAFNOSUPPORT, SCMP_SYS(socket), 0, mask, value);
  };
  for (int family = 0; family <= max_checked_family; ++family) {
    if (!is_allowed_family(family, unix_sockets)) refuse(lower_half, static_cast<std::uint64_t>(family));
  }
  for (std::uint64_t bit = max_checked_family + 1; bit <= lower_half; bit <<= 1u) refuse(bit, bit);
}

/// Denies pairs of sockets without connection, because they could be connected to sockets of the host.
void deny_pairs_without_connection(const Filter& filter) {
  constexpr std::uint64_t type_of_socket = 0xF;
  for (const std::uint64_t type : {SOCK_DGRAM, SOCK_RAW})
    deny_where(filter, EPROTONOSUPPORT, SCMP_SYS(socketpair), 1, type_of_socket, type);
}

std::string as_program(const Filter& filter) {
  const Descriptor file(::memfd_create("agw-filter", MFD_CLOEXEC));
  if (!file) throw_errno("cannot make the sandbox's filter");
  check(seccomp_export_bpf(filter.get(), file.get()), "export");
  const auto size = ::lseek(file.get(), 0, SEEK_END);
  std::string program(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
  if (::pread(file.get(), program.data(), program.size(), 0) != size) throw_errno("cannot read the sandbox's filter");
  // Without instructions it would allow everything.
  AGW_ASSERT(!program.empty());
  AGW_ASSERT(program.size() % sizeof(sock_filter) == 0);
  return program;
}

std::string make_filter(UnixSockets unix_sockets) {
  const Filter filter(seccomp_init(SCMP_ACT_ALLOW), seccomp_release);
  if (!filter) throw std::runtime_error("cannot make the sandbox's filter: out of memory");
  for (const auto* call : denied_calls) deny(filter, EPERM, call);
  // A filter cannot check its flags; with ENOSYS, libraries fall back to clone.
  deny(filter, ENOSYS, "clone3");
  deny_where(filter, EPERM, SCMP_SYS(clone), 0, CLONE_NEWUSER, CLONE_NEWUSER);
  for (const auto control : denied_controls) deny_where(filter, EPERM, SCMP_SYS(ioctl), 1, lower_half, control);
  deny_socket_families(filter, unix_sockets);
  if (unix_sockets == UnixSockets::denied) deny_pairs_without_connection(filter);
  return as_program(filter);
}

}  // namespace

const std::string& system_call_filter(UnixSockets unix_sockets) {
  static const std::array filters{make_filter(UnixSockets::denied), make_filter(UnixSockets::allowed)};
  return filters[unix_sockets == UnixSockets::allowed ? 1 : 0];
}

}  // namespace agw
