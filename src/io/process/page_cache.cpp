#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "io/process/process_setup.hpp"

namespace agw {

namespace {

/// Releases the read-only and executable mappings of a program or library, which are identical to its file. Returns
/// whether to stop after it; the program is reported first.
int release_segments(dl_phdr_info* program, std::size_t, void* with_libraries) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    const auto& segment = program->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const auto begin = (program->dlpi_addr + segment.p_vaddr) & ~(page - 1);
    const auto end = program->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    // A failure only costs memory.
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // NOLINT(performance-no-int-to-ptr)
  }
  return with_libraries ? 0 : 1;
}

}  // namespace

void release_program_pages() { ::dl_iterate_phdr(release_segments, nullptr); }

void release_all_code_pages() {
  bool with_libraries = true;
  ::dl_iterate_phdr(release_segments, &with_libraries);
}

}  // namespace agw
