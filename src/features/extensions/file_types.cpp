#include "features/extensions/file_types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(ExtensionFileEntry, (), (name, isDirectory))
const Description& describe(Tag<ExtensionFileEntry>) {
  return description_of<ExtensionFileEntry>("ExtensionFileEntry");
}

BOOST_DESCRIBE_STRUCT(ExtensionFileList, (), (root, files))
const Description& describe(Tag<ExtensionFileList>) { return description_of<ExtensionFileList>("ExtensionFileList"); }

BOOST_DESCRIBE_ENUM(FileEncoding, utf_8, base64)
std::span<const EnumName> names(Tag<FileEncoding>) { return enum_names<FileEncoding>(); }

BOOST_DESCRIBE_STRUCT(ExtensionFile, (), (path, content, encoding, size, modified_at))
const Description& describe(Tag<ExtensionFile>) { return description_of<ExtensionFile>("ExtensionFile"); }

BOOST_DESCRIBE_STRUCT(ExtensionFileQuery, (), (path, raw))
constexpr auto rules(Tag<ExtensionFileQuery>) {
  return std::tuple{
      RuleFor<&ExtensionFileQuery::path>{
          {.about = "relative to the extension's directory", .missing = "path query param required"}},
      RuleFor<&ExtensionFileQuery::raw>{{.about = "the bytes themselves instead of JSON", .has_default = true}}};
}
const Description& describe(Tag<ExtensionFileQuery>) {
  return description_of<ExtensionFileQuery>("ExtensionFileQuery");
}

BOOST_DESCRIBE_STRUCT(WrittenConfig, (), (status, config))
const Description& describe(Tag<WrittenConfig>) { return description_of<WrittenConfig>("WrittenConfig"); }

BOOST_DESCRIBE_STRUCT(Reseeded, (), (status, warnings))
const Description& describe(Tag<Reseeded>) { return description_of<Reseeded>("Reseeded"); }

}  // namespace agw
