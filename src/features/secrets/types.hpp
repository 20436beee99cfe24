#pragma once

#include <string>

#include "base/json/described.hpp"

namespace agw {

/// A row of `GET /secrets`. No endpoint returns a value.
struct SecretName {
  std::string name;  ///< the NAME in `${secret:NAME}`
};
const Description& describe(Tag<SecretName>);

/// The body of `PUT /secrets/:name`.
struct SecretValue {
  std::string value;
};
const Description& describe(Tag<SecretValue>);

}  // namespace agw
