#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <optional>

namespace agw {

/// Opens /dev/null in the place of standard streams that are closed: the next file would get such a number, and what is
/// printed would be written into it. Where `is_output_read`, printing to a closed standard output still fails.
void open_standard_streams(bool is_output_read);

/// Raises the limit of open files to the most that this process may have, and answers that.
std::size_t raise_descriptor_limit();

/// What the limit was before it was raised, if it was: programs that are started get it back, for some cannot cope with
/// a high one (select(2)).
const std::optional<rlimit>& descriptor_limit_before();

}  // namespace agw
