"""Tries published ways to escape from a sandbox, each in its own process. Runs in the sandbox and prints the outcomes
as JSON: the error that stopped the attempt, or what it obtained.

The argument is JSON: `secret` (a file of the host), `pid` (a process of the host), `abstract` and `socket` (UNIX sockets of
the host), `port` (of the host), `hidden` (a private file in the working directory, which is a repository).
"""

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import struct
import sys
import termios

CALLS = {  # numbers on x86-64
    "ptrace": 101, "syslog": 103, "setpriority": 141, "pivot_root": 155, "adjtimex": 159, "chroot": 161, "acct": 163,
    "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170,
    "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179,
    "clock_settime": 227, "mbind": 237, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
    "migrate_pages": 256, "unshare": 272, "move_pages": 279, "perf_event_open": 298, "fanotify_init": 300,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
    "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425,
    "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431,
    "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435, "pidfd_getfd": 438, "process_madvise": 440,
    "mount_setattr": 442, "personality": 135, "capset": 126, "mknod": 133, "clone": 56, "renameat2": 316, "linkat": 265}
NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
AT_FDCWD, EXCHANGE, AT_EMPTY_PATH = -100, 2, 0x1000
libc = ctypes.CDLL(None, use_errno=True)
host = json.loads(sys.argv[1])
TRIES = {}


def call(name, *arguments, offset=0):
    """Makes the system call directly, without a wrapper of libc. Raises OSError."""
    given = [argument.encode() if isinstance(argument, str) else argument for argument in arguments]
    made = [ctypes.c_long(each) if isinstance(each, int) else each for each in given]
    result = libc.syscall(ctypes.c_long(CALLS[name] + offset), *made)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def control(descriptor, number, argument):
    if libc.ioctl(descriptor, ctypes.c_ulong(number), argument) < 0:
        raise OSError(ctypes.get_errno(), "ioctl")
    return "done"


def tries(name, act):
    TRIES[name] = act


def called(name, *arguments, what=None, offset=0):
    tries(what or name, lambda: call(name, *arguments, offset=offset))


def reads(path, what=None):
    tries(what or f"reading {path}", lambda: open(path, "rb").read(64) or None)


def writes(path, text="0", what=None):
    def act():
        with open(path, "w") as file:
            file.write(text)
        return "written"
    tries(what or f"writing {path}", act)


def opens(family, kind=socket.SOCK_STREAM, what=None, protocol=0):
    tries(what or f"a socket of family {family}", lambda: socket.socket(family, kind, protocol))


# Mounts and namespaces.
called("mount", "tmpfs", "/tmp", "tmpfs", 0, 0)
called("mount", "/", "/tmp", 0, 0x1000, 0, what="a bind mount")
called("mount", "none", "/", 0, 0x1020, 0, what="the root mounted anew, writable")
called("mount", "none", "/proc", 0, 0x1020, 0, what="/proc mounted anew, writable")
called("mount", "proc", "/tmp", "proc", 0, 0, what="another /proc")
called("mount", "cgroup", "/tmp", "cgroup2", 0, 0, what="the control groups (CVE-2022-0492)")
called("mount", "overlay", "/tmp", "overlay", 0, "lowerdir=/,upperdir=/tmp,workdir=/tmp", what="an overlay (CVE-2023-0386)")
called("umount2", host["hidden"], 2, what="the cover of a private file taken off")
called("umount2", "/proc", 2, what="/proc taken off")
for each in ("pivot_root", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"):
    called(each, AT_FDCWD if each in ("open_tree", "fspick", "mount_setattr") else "/tmp", "/tmp", 0, 0, 0)
called("chroot", "/tmp")
for each, flag in (("mounts", NEWNS), ("users (CVE-2022-0185)", NEWUSER), ("processes", NEWPID), ("networks", NEWNET),
                   ("names", NEWUTS), ("messages", NEWIPC)):
    called("unshare", flag, what=f"a new namespace of {each}")
called("clone", NEWUSER | signal.SIGCHLD, 0, 0, 0, 0, what="a child in a new namespace of users")
called("clone", (1 << 40) | NEWUSER | signal.SIGCHLD, 0, 0, 0, 0, what="the same with higher bits set")
called("clone3", struct.pack("Q" * 11, NEWUSER, *[0] * 10), 88, what="the same by clone3")
for each in ("mnt", "user", "pid", "net"):
    tries(f"the namespace {each} of process 1", lambda kind=each: call("setns", os.open(f"/proc/1/ns/{kind}", os.O_RDONLY), 0))
called("mount", "x", "/tmp", "tmpfs", 0, 0, what="a mount by the numbers of x32", offset=0x40000000)
called("swapon", "/tmp/x", 0)
called("swapoff", "/tmp/x")
called("quotactl", 0, 0, 0, 0)
writes("/proc/self/uid_map", "0 0 1")
writes("/proc/self/gid_map", "0 0 1")
reads("/dev/fuse")

# /proc, /sys and devices.
for each in ("kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "kernel/randomize_va_space", "vm/overcommit_memory",
             "fs/binfmt_misc/register"):
    writes(f"/proc/sys/{each}")
writes("/proc/sysrq-trigger", "h")
writes("/proc/self/oom_score_adj", "-1000")
writes("/proc/1/mem")
writes("/proc/self/exe", what="writing the running program (CVE-2019-5736)")
for each in (f"/proc/1/root{host['secret']}", f"/proc/self/root{host['secret']}", f"/proc/self/cwd/../../../../../..{host['secret']}",
             f"/proc/{host['pid']}/root{host['secret']}", f"/proc/{host['pid']}/environ", host["secret"], host["hidden"],
             "/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore", "/proc/kmsg", "/dev/kmsg", "/dev/sda", "/dev/vda",
             "/dev/net/tun", "/dev/kvm", "/dev/tty", "/dev/console", "/sys/kernel/security/lsm", "/sys/fs/cgroup/cgroup.procs",
             "/sys/kernel/debug/sched", "/sys/firmware/acpi/tables/DSDT"):
    reads(each)
tries("variables of the gateway", lambda: "HOST_MARK" in open("/proc/1/environ").read() + str(os.environ) or None)
tries("the numbers of the host's processes", lambda: os.path.exists(f"/proc/{host['pid']}/exe") or None)
tries("descriptors that were left open (CVE-2024-21626)", lambda: [
    target for fd in os.listdir("/proc/self/fd") if int(fd) > 2
    for target in [os.readlink(f"/proc/self/fd/{fd}") if os.path.islink(f"/proc/self/fd/{fd}") else ""]
    if target.startswith("/") and not target.startswith("/proc/")] or None)
tries("a directory of the host by a descriptor", lambda: [
    fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}/..{host['secret']}")] or None)
tries("a device of its own", lambda: os.mknod("/tmp/sda", 0o60600, os.makedev(8, 0)))
tries("shared memory of the host", lambda: open("/proc/sysvipc/shm").read().splitlines()[1:] or None)

# Other processes, and the kernel.
called("ptrace", 16, 1, 0, 0, what="tracing process 1")
called("ptrace", 16, host["pid"], 0, 0, what="tracing a process of the host")
called("ptrace", 0, 0, 0, 0, what="being traced")
called("ptrace", 0x4206, 1, 0, 0, what="seizing process 1")
for each in ("process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "perf_event_open", "bpf",
             "userfaultfd", "syslog", "fanotify_init", "io_uring_setup", "io_uring_enter", "io_uring_register",
             "name_to_handle_at", "open_by_handle_at", "add_key", "request_key", "keyctl", "acct", "reboot", "kexec_load",
             "kexec_file_load", "init_module", "finit_module", "delete_module", "iopl", "ioperm", "sethostname",
             "setdomainname", "settimeofday", "clock_settime", "adjtimex", "move_pages", "migrate_pages", "mbind"):
    called(each, 1, 0, 0, 0, 0, 0)
called("pidfd_open", host["pid"], 0, what="a descriptor of a process of the host")
tries("a signal to a process of the host", lambda: os.kill(host["pid"], 0) or "sent")
called("setpriority", 0, 0, ctypes.c_long(-20).value, what="a higher priority")
tries("more than its limits", lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2) or "raised")

# Sockets.
for each in ("AF_UNIX", "AF_PACKET", "AF_ALG", "AF_VSOCK", "AF_BLUETOOTH", "AF_CAN", "AF_RDS", "AF_TIPC", "AF_QIPCRTR"):
    opens(getattr(socket, each), socket.SOCK_SEQPACKET if each == "AF_ALG" else socket.SOCK_DGRAM, what=each)
for number, each in ((15, "AF_KEY"), (44, "AF_XDP"), (9, "AF_X25"), (5, "AF_APPLETALK"), (39, "AF_NFC"), (43, "AF_SMC")):
    opens(number, what=each)
opens(socket.AF_INET, socket.SOCK_RAW, what="a raw socket", protocol=1)
opens(socket.AF_INET6, socket.SOCK_RAW, what="a raw socket of IPv6", protocol=58)


def connects(to, what):
    def act():
        one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        one.connect(to)
        return "connected"
    tries(what, act)


connects(host["socket"], "a socket of the host from a pair")
connects("\0" + host["abstract"], "an abstract socket of the host from a pair")
tries("a port of the host", lambda: socket.create_connection(("127.0.0.1", host["port"]), 1))
tries("a port of the host over IPv6", lambda: socket.create_connection(("::ffff:127.0.0.1", host["port"]), 1))


def add_network_link():
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    body = struct.pack("BxHiII", 0, 0, 1, 1, 1)
    link.send(struct.pack("IHHII", 16 + len(body), 16, 5, 1, 0) + body)
    (error,) = struct.unpack("i", link.recv(1024)[16:20])
    if error:
        raise OSError(-error, "netlink")
    return "changed"


tries("a change of the network's interfaces", add_network_link)

# The terminal.
for each, number in (("typing", termios.TIOCSTI), ("typing, with higher bits", termios.TIOCSTI | 1 << 32), ("a console's command", 0x541C)):
    tries(f"{each} into the terminal", lambda wanted=number: control(0, wanted, b"x"))

# Identity.
tries("a change of the user", lambda: os.setresuid(12345, 12345, 12345) or "changed")
tries("other groups", lambda: os.setgroups([0, 42]) or "changed")
called("capset", struct.pack("Ii", 0x20080522, 0), struct.pack("IIIIII", *[0xFFFFFFFF] * 6), what="capabilities taken back")
tries("capabilities that are left", lambda: next(line for line in open("/proc/self/status") if line.startswith("CapEff")).split()[1].strip("0") or None)
tries("new privileges of a program", lambda: "NoNewPrivs:\t1" not in open("/proc/self/status").read() or None)


def chown_to_another_user():
    open("/tmp/other", "w").close()
    os.chown("/tmp/other", 12345, 12345)
    return "changed"


def set_file_capabilities():
    open("/tmp/capable", "w").close()
    os.setxattr("/tmp/capable", "security.capability", struct.pack("<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0, 0))
    return "set"


tries("a file of another user", chown_to_another_user)
tries("a file with capabilities", set_file_capabilities)

# The repository and private files, by links, renames and races.
writes(".git/hooks/pre-commit", "x")
writes(".git/config", "x")
tries("the folder of the repository renamed", lambda: os.rename(".git", "git") or "renamed")
tries("the hooks renamed", lambda: os.rename(".git/hooks", ".git/h") or "renamed")
os.makedirs("evil/hooks", exist_ok=True)
called("renameat2", AT_FDCWD, "evil/hooks", AT_FDCWD, ".git/hooks", EXCHANGE, what="the hooks exchanged")
called("renameat2", AT_FDCWD, "evil", AT_FDCWD, ".git", EXCHANGE, what="the repository exchanged")
tries("the settings replaced", lambda: [open("new", "w").close(), os.rename("new", ".git/config")] and "replaced")
tries("a hard link to the hook", lambda: [os.link(".git/hooks/post-commit", "linked"), open("linked", "w").write("x")] and "written")
tries("a hard link to a private file", lambda: [os.link(host["hidden"], "linked-key"), open("linked-key").read()][1] or None)
tries("a private file renamed", lambda: os.rename(host["hidden"], "renamed") or "renamed")
tries("a private file by its path's descriptor", lambda: open(f"/proc/self/fd/{os.open(host['hidden'], 0o10000000)}").read() or None)
tries("a private file by a link with a descriptor", lambda: [
    call("linkat", os.open(host["hidden"], 0o10000000), "", AT_FDCWD, "by-descriptor", AT_EMPTY_PATH), open("by-descriptor").read()][1] or None)
tries("a settings file by a symlink in its place", lambda: [os.unlink(".git/config"), os.symlink("/tmp/x", ".git/config")] and "replaced")
tries("skills of the project", lambda: os.makedirs(".agents/skills/x") or "made")
tries("a program of the system", lambda: os.open("/usr/bin/env", os.O_WRONLY))
tries("a setting of the system", lambda: os.open("/etc/passwd", os.O_WRONLY))


def race_symlink():
    """Reads through a directory while another process repeatedly replaces it with a symlink."""
    os.makedirs("race/a", exist_ok=True)
    if os.fork() == 0:
        for _ in range(3000):
            try:
                os.rename("race/a", "race/b")
                os.symlink(os.path.dirname(host["secret"]), "race/a")
                os.unlink("race/a")
                os.rename("race/b", "race/a")
            except OSError:
                pass
        os._exit(0)
    got = None
    for _ in range(3000):
        try:
            got = got or open("race/a/" + os.path.basename(host["secret"])).read()
        except OSError:
            pass
    return got


tries("a race of a folder and a symlink", race_symlink)


def outcome(act):
    try:
        got = act()
    except OSError as error:
        return {"stopped": errno.errorcode.get(error.errno, str(error.errno))}
    except Exception as error:  # noqa: BLE001
        return {"stopped": f"{type(error).__name__}: {error}"}
    return {"stopped": "nothing was there"} if got is None else {"got": str(got)[:200]}


def in_a_child(act):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        os.write(writing, json.dumps(outcome(act)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as results:
        printed = results.read()
    _, status = os.waitpid(child, 0)
    return json.loads(printed) if printed else {"stopped": f"signal {os.WTERMSIG(status)}"}


def main():
    before = dict(TRIES)
    print(json.dumps({name: in_a_child(act) for name, act in before.items()}))


main()
