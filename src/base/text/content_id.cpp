#include "base/text/content_id.hpp"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace agw {

std::string content_id(std::string_view content) {
  const boost::uuids::name_generator_sha1 generate(boost::uuids::ns::oid());
  return boost::uuids::to_string(generate(content.data(), content.size()));
}

}  // namespace agw
