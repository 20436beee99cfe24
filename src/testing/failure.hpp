#pragma once

#include <string>
#include <utility>

#include "api/error.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"

namespace agw::testing {

/// The ApiError that ends the task, as `<status> <error> <extra>`.
template <class T>
Task<std::string> failure(Task<T> task) {
  try {
    co_await std::move(task);
  } catch (const ApiError& error) {
    co_return std::to_string(error.status()) + " " + error.error() +
        (error.extra().empty() ? "" : " " + to_json(error.extra()));
  }
  co_return "none";
}

}  // namespace agw::testing
