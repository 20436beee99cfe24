#include "features/secrets/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(SecretName, (), (name))
constexpr auto rules(Tag<SecretName>) {
  return std::tuple{RuleFor<&SecretName::name>{{.about = "the NAME in ${secret:NAME}"}}};
}
const Description& describe(Tag<SecretName>) { return description_of<SecretName>("SecretName"); }

BOOST_DESCRIBE_STRUCT(SecretValue, (), (value))
constexpr auto rules(Tag<SecretValue>) {
  return std::tuple{RuleFor<&SecretValue::value>{{.about = "a text of at most 64 KiB; it is never shown again"}}};
}
const Description& describe(Tag<SecretValue>) { return description_of<SecretValue>("SecretValue"); }

}  // namespace agw
