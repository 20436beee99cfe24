#pragma once

#include <string>
#include <utility>

#include "api/error.hpp"

namespace agw {

// Errors used by several rooms, with each text of the specification defined once.

inline BadRequest invalid_query() { return BadRequest("invalid query"); }
inline BadRequest body_required() { return BadRequest("Request body required"); }
inline BadRequest path_traversal() { return BadRequest("path traversal not allowed"); }

inline Unauthorized unauthorized() { return Unauthorized("unauthorized"); }

inline Forbidden path_outside_home(json::object extra = {}) {
  return Forbidden("path outside home directory", std::move(extra));
}
inline Forbidden permission_denied() { return Forbidden("permission denied"); }

inline NotFound not_found() { return NotFound("not found"); }
inline NotFound agent_not_found() { return NotFound("agent not found"); }
inline NotFound extension_not_found() { return NotFound("extension not found"); }
inline NotFound file_not_found() { return NotFound("file not found"); }
inline NotFound job_not_found() { return NotFound("job not found"); }
inline NotFound path_not_found() { return NotFound("path not found"); }
inline NotFound project_not_found() { return NotFound("project not found"); }
inline NotFound proposal_not_found() { return NotFound("proposal not found"); }
inline NotFound thread_not_found() { return NotFound("thread not found"); }
inline NotFound turn_not_found() { return NotFound("turn not found"); }

inline Conflict extension_name_taken(const std::string& name) {
  return Conflict("extension name already exists", {{"name", name}});
}
inline Conflict turn_in_use() { return Conflict("turn is in use"); }

inline PayloadTooLarge body_too_large() { return PayloadTooLarge("request body too large"); }
inline PayloadTooLarge file_too_large() { return PayloadTooLarge("file too large"); }

inline InsufficientStorage disk_full() { return InsufficientStorage("disk full"); }

// For internal errors, whose causes are only logged.
inline constexpr const char* internal_error = "internal server error";
inline constexpr const char* directory_unreadable = "could not read directory";

}  // namespace agw
