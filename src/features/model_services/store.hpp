#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/connection.hpp"

/// The SQL of model services and settings. All throw DatabaseError.
namespace agw::model_service_store {

/// Returns the chosen value of a setting, if there is one.
std::optional<std::string> chosen(Connection& connection, std::string_view name);
/// Stores the choice; nullopt removes it.
void choose(Connection& connection, std::string_view name, const std::optional<std::string>& value);

/// The names of deleted services.
std::vector<std::string> deleted(Connection& connection);
void add_deleted(Connection& connection, const std::string& name);
void forget_deleted(Connection& connection, const std::string& name);

/// The last list of models of a service.
struct StoredList {
  std::string service;  ///< its name
  std::string place;    ///< its address
  std::string models;   ///< as JSON
};
std::vector<StoredList> lists(Connection& connection);
void put_list(Connection& connection, const StoredList& list);
void forget_list(Connection& connection, const std::string& service);

}  // namespace agw::model_service_store
