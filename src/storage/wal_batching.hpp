#pragma once

namespace agw {

/// The name of the SQLite VFS of the writing connection. It wraps SQLite's default VFS and batches writes to the
/// write-ahead log: SQLite writes each page of a commit with two calls; the VFS collects them and writes them in large
/// pieces before the log is synced. Other connections read the pages of a commit only after that sync, so only
/// connections with `synchronous = FULL` may use it. (https://www.sqlite.org/vfs.html, /walformat.html)
/// Example: src/storage/wal_batching_test.cpp: WalBatching.ACommitOfManyPagesIsWrittenInFewCallsAndSeenByOthers
const char* wal_batching_vfs();

}  // namespace agw
