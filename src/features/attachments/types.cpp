#include "features/attachments/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(Attachment, (), (id, name, mime, size))
constexpr auto rules(Tag<Attachment>) {
  return std::tuple{RuleFor<&Attachment::mime>{{.about = "the Content-Type that it came with"}},
                    RuleFor<&Attachment::size>{{.about = "bytes"}}};
}
const Description& describe(Tag<Attachment>) { return description_of<Attachment>("Attachment"); }

json::array attachment_list(const std::vector<Attachment>& attachments) {
  json::array list;
  for (const auto& attachment : attachments) {
    list.push_back(json::object{
        {"id", attachment.id}, {"name", attachment.name}, {"mime", attachment.mime}, {"size", attachment.size}});
  }
  return list;
}

BOOST_DESCRIBE_STRUCT(UploadQuery, (), (name, id))
constexpr auto rules(Tag<UploadQuery>) {
  return std::tuple{
      RuleFor<&UploadQuery::name>{{.about = "what the file is called", .has_default = true}},
      RuleFor<&UploadQuery::id>{{.about = "a UUID of your choice: a file that has it already is returned as it is"}}};
}
const Description& describe(Tag<UploadQuery>) { return description_of<UploadQuery>("UploadQuery"); }

}  // namespace agw
