#pragma once

#include <string_view>

/// The names of the gateway's own files in the data directory.
namespace agw::data_files {

inline constexpr std::string_view token = ".gateway-token";
inline constexpr std::string_view database = "gateway.db";  ///< SQLite's own files begin with this name too
inline constexpr std::string_view lock = "gateway.lock";
inline constexpr std::string_view configuration = "config.yaml";
inline constexpr std::string_view prices = "prices.yaml";
inline constexpr std::string_view secrets = "secrets.yaml";
/// The key and certificate with which the proxy stands in for hosts towards programs that use secrets.
inline constexpr std::string_view authority = "proxy-authority.pem";
inline constexpr std::string_view checkpoints = "checkpoints";  ///< a directory
inline constexpr std::string_view cluster = "cluster-id";       ///< of the nodes among which this one is
inline constexpr std::string_view nodes = "nodes";  ///< a directory: what nodes that share this one have for themselves
inline constexpr std::string_view log = "gateway.log";  ///< in the directory `logs`, together with its older versions

}  // namespace agw::data_files
