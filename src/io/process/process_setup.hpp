#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <optional>

namespace agw {

/// Opens /dev/null for closed standard streams: otherwise the next opened file would get such a number, and printed
/// text would be written into it. If `is_output_read`, printing to a closed standard output still fails.
void open_standard_streams(bool is_output_read);

/// Raises the soft limit of open files to the hard limit, and returns it.
std::size_t raise_file_limit();

/// The limit before it was raised, if it was: child processes get it back, because some programs cannot cope with a
/// high one (select(2)).
const std::optional<rlimit>& original_file_limit();

}  // namespace agw
