#pragma once

#include <exception>
#include <string>

namespace agw {

/// What the exception says. It is one of the standard library's, as all of ours are.
inline std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace agw
