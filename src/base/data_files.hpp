#pragma once

#include <string_view>

/// The names of the gateway's own files in the data directory.
namespace agw::data_files {

inline constexpr std::string_view token = ".gateway-token";
inline constexpr std::string_view database = "gateway.db";  ///< also the prefix of the names of SQLite's own files
inline constexpr std::string_view lock = "gateway.lock";
inline constexpr std::string_view configuration = "config.yaml";
inline constexpr std::string_view prices = "prices.yaml";
inline constexpr std::string_view secrets = "secrets.yaml";
/// The key and certificate of the authority that signs the proxy's certificates for programs that use secrets.
inline constexpr std::string_view authority = "proxy-authority.pem";
inline constexpr std::string_view checkpoints = "checkpoints";  ///< a directory
inline constexpr std::string_view cluster = "cluster-id";       ///< the id of the cluster that this node belongs to
inline constexpr std::string_view nodes = "nodes";      ///< a directory: private data of each node that shares this one
inline constexpr std::string_view log = "gateway.log";  ///< in the directory `logs`, together with the rotated files

}  // namespace agw::data_files
