#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <optional>
#include <string>

namespace agw {

/// Opens /dev/null for closed standard streams: otherwise the next opened file would get such a number, and printed
/// text would be written to it. If `is_output_read`, printing to a closed standard output still fails.
void open_standard_streams(bool is_output_read);

/// Removes the owner's rights from the umask: with them in it, the program could not use the directories it creates.
void keep_rights_to_own_files();

/// Raises the soft limit of open files to the hard limit, and returns it.
std::size_t raise_file_limit();

/// Why that limit is too low for the gateway, and what to raise; nullopt if it is high enough.
std::optional<std::string> file_limit_problem();

/// The soft limit before it was raised, if it was: child processes get it back, because some programs cannot handle a
/// high one (select(2)).
const std::optional<rlimit>& original_file_limit();

/// Releases the memory of the program's own code and constants; the kernel reads needed pages again from the file.
/// Called after the start, most of whose code never runs again, which saves a third of the idle memory.
void release_program_pages();

/// The same including the libraries, for a program that mostly waits.
void release_all_code_pages();

/// Whether a person started this process at a terminal, so that no service manager waits for its exit status: stdin and
/// stderr are terminals, and it is neither the first process of a container nor executed by systemd itself.
bool is_started_by_hand();

/// The path of this program's file at the start of the process, because an upgrade may have replaced the file since.
std::string program_path();

/// Replaces this process by the program at `path`: same process id, arguments, standard streams and environment, with
/// `variable` set to `value`. Closes all other descriptors. Signals are reset to their defaults, but SIGHUP stays
/// ignored if `hangup_was_ignored`. No other thread may run. Returns only on failure, with the reason.
std::string restart_program(const std::string& path, const char* variable, const std::string& value,
                            bool hangup_was_ignored);

}  // namespace agw
