#pragma once

namespace agw {

/// The name of the file system (SQLite: VFS) through which the database is written. It is SQLite's own, but for the
/// write-ahead log: SQLite writes a commit's pages there in two calls each; they are gathered, and written in large
/// pieces, all of them before the log is synced. Other connections look at a commit's pages only after its sync, so
/// only connections with `synchronous = FULL` may use it. (https://www.sqlite.org/vfs.html, /walformat.html)
const char* log_gathering_file_system();

}  // namespace agw
