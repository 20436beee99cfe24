#include "io/files/libarchive.hpp"

#include <string>

#include "base/dynamic_library.hpp"
#include "io/files/archive.hpp"

namespace agw {

namespace {

struct Loaded {
  Libarchive functions;
  std::string problem;
};

Loaded load_libarchive() {
  Loaded loaded;
  auto& functions = loaded.functions;
  DynamicLibrary library("libarchive.so.13", "libarchive13");
  library.find("archive_entry_filetype", functions.entry_filetype);
  library.find("archive_entry_free", functions.entry_free);
  library.find("archive_entry_hardlink", functions.entry_hardlink);
  library.find("archive_entry_mtime", functions.entry_mtime);
  library.find("archive_entry_mtime_is_set", functions.entry_mtime_is_set);
  library.find("archive_entry_mtime_nsec", functions.entry_mtime_nsec);
  library.find("archive_entry_new", functions.entry_new);
  library.find("archive_entry_pathname", functions.entry_pathname);
  library.find("archive_entry_perm", functions.entry_perm);
  library.find("archive_entry_set_filetype", functions.entry_set_filetype);
  library.find("archive_entry_set_mtime", functions.entry_set_mtime);
  library.find("archive_entry_set_pathname", functions.entry_set_pathname);
  library.find("archive_entry_set_perm", functions.entry_set_perm);
  library.find("archive_entry_set_size", functions.entry_set_size);
  library.find("archive_entry_size", functions.entry_size);
  library.find("archive_entry_symlink", functions.entry_symlink);
  library.find("archive_error_string", functions.error_string);
  library.find("archive_read_data", functions.read_data);
  library.find("archive_read_free", functions.read_free);
  library.find("archive_read_new", functions.read_new);
  library.find("archive_read_next_header", functions.read_next_header);
  library.find("archive_read_open_filename", functions.read_open_filename);
  library.find("archive_read_support_filter_zstd", functions.read_support_filter_zstd);
  library.find("archive_read_support_format_tar", functions.read_support_format_tar);
  library.find("archive_read_support_format_zip", functions.read_support_format_zip);
  library.find("archive_read_support_format_raw", functions.read_support_format_raw);
  library.find("archive_set_error", functions.set_error);
  library.find("archive_write_add_filter_zstd", functions.write_add_filter_zstd);
  library.find("archive_write_close", functions.write_close);
  library.find("archive_write_data", functions.write_data);
  library.find("archive_write_fail", functions.write_fail);
  library.find("archive_write_free", functions.write_free);
  library.find("archive_write_header", functions.write_header);
  library.find("archive_write_new", functions.write_new);
  library.find("archive_write_open2", functions.write_open2);
  library.find("archive_write_set_bytes_in_last_block", functions.write_set_bytes_in_last_block);
  library.find("archive_write_set_format_option", functions.write_set_format_option);
  library.find("archive_write_set_format_pax", functions.write_set_format_pax);
  loaded.problem = library.problem();
  return loaded;
}

}  // namespace

const Libarchive& Libarchive::get() {
  static const Loaded loaded = load_libarchive();
  if (!loaded.problem.empty()) throw ArchiveError(loaded.problem);
  return loaded.functions;
}

}  // namespace agw
