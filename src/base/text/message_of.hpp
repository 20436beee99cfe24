#pragma once

#include <exception>
#include <string>

namespace agw {

/// The message of an exception, which must derive from std::exception, as all of ours do.
inline std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace agw
