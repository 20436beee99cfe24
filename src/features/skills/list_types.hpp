#pragma once

#include <string>

#include "base/json/described.hpp"

namespace agw {

/// An element of `GET /agents/:name/skills`.
struct ListedSkill {
  std::string name;
  std::string description;
  std::string directory;  ///< absolute
};
const Description& describe(Tag<ListedSkill>);

}  // namespace agw
