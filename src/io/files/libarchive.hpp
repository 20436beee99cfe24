#pragma once

#include <archive.h>
#include <archive_entry.h>

namespace agw {

/// libarchive's functions, loaded at run time because few commands need them. Include this in archive.cpp only.
struct Libarchive {
  decltype(&::archive_entry_filetype) entry_filetype = nullptr;
  decltype(&::archive_entry_free) entry_free = nullptr;
  decltype(&::archive_entry_hardlink) entry_hardlink = nullptr;
  decltype(&::archive_entry_mtime) entry_mtime = nullptr;
  decltype(&::archive_entry_mtime_is_set) entry_mtime_is_set = nullptr;
  decltype(&::archive_entry_mtime_nsec) entry_mtime_nsec = nullptr;
  decltype(&::archive_entry_new) entry_new = nullptr;
  decltype(&::archive_entry_pathname) entry_pathname = nullptr;
  decltype(&::archive_entry_perm) entry_perm = nullptr;
  decltype(&::archive_entry_set_filetype) entry_set_filetype = nullptr;
  decltype(&::archive_entry_set_mtime) entry_set_mtime = nullptr;
  decltype(&::archive_entry_set_pathname) entry_set_pathname = nullptr;
  decltype(&::archive_entry_set_perm) entry_set_perm = nullptr;
  decltype(&::archive_entry_set_size) entry_set_size = nullptr;
  decltype(&::archive_entry_size) entry_size = nullptr;
  decltype(&::archive_entry_symlink) entry_symlink = nullptr;
  decltype(&::archive_error_string) error_string = nullptr;
  decltype(&::archive_read_data) read_data = nullptr;
  decltype(&::archive_read_free) read_free = nullptr;
  decltype(&::archive_read_new) read_new = nullptr;
  decltype(&::archive_read_next_header) read_next_header = nullptr;
  decltype(&::archive_read_open_filename) read_open_filename = nullptr;
  decltype(&::archive_read_support_filter_zstd) read_support_filter_zstd = nullptr;
  decltype(&::archive_read_support_format_tar) read_support_format_tar = nullptr;
  decltype(&::archive_read_support_format_zip) read_support_format_zip = nullptr;
  decltype(&::archive_read_support_format_raw) read_support_format_raw = nullptr;
  decltype(&::archive_set_error) set_error = nullptr;
  decltype(&::archive_write_add_filter_zstd) write_add_filter_zstd = nullptr;
  decltype(&::archive_write_close) write_close = nullptr;
  decltype(&::archive_write_data) write_data = nullptr;
  decltype(&::archive_write_fail) write_fail = nullptr;
  decltype(&::archive_write_free) write_free = nullptr;
  decltype(&::archive_write_header) write_header = nullptr;
  decltype(&::archive_write_new) write_new = nullptr;
  decltype(&::archive_write_open2) write_open2 = nullptr;
  decltype(&::archive_write_set_bytes_in_last_block) write_set_bytes_in_last_block = nullptr;
  decltype(&::archive_write_set_format_option) write_set_format_option = nullptr;
  decltype(&::archive_write_set_format_pax) write_set_format_pax = nullptr;

  /// The library, loaded at the first call and kept until the process ends. Throws ArchiveError if it is missing.
  static const Libarchive& get();
};

}  // namespace agw
