#include "features/apps/types.hpp"

#include <array>

#include "base/json/describe.hpp"

namespace agw {

// Written out, because `static` is a keyword.
std::span<const EnumName> names(Tag<AppType>) {
  static constexpr std::array listed{
      EnumName{"node", static_cast<int>(AppType::node)},      EnumName{"vite", static_cast<int>(AppType::vite)},
      EnumName{"python", static_cast<int>(AppType::python)},  EnumName{"command", static_cast<int>(AppType::command)},
      EnumName{"static", static_cast<int>(AppType::statics)},
  };
  return listed;
}

BOOST_DESCRIBE_ENUM(AppStatus, stopped, starting, running, failed)
std::span<const EnumName> names(Tag<AppStatus>) { return enum_names<AppStatus>(); }

std::span<const EnumName> names(Tag<AppStream>) {
  static constexpr std::array listed{
      EnumName{"stdout", static_cast<int>(AppStream::out)},
      EnumName{"stderr", static_cast<int>(AppStream::err)},
      EnumName{"gateway", static_cast<int>(AppStream::gateway)},
  };
  return listed;
}

BOOST_DESCRIBE_STRUCT(App, (), (name, type, status, port, pid, url, started_at, restarts))
constexpr auto rules(Tag<App>) {
  return std::tuple{RuleFor<&App::port>{{.about = "of the loopback address"}},
                    RuleFor<&App::url>{{.about = "where a browser opens it, while it lives"}},
                    RuleFor<&App::restarts>{{.about = "after crashes, since somebody started it"}}};
}
const Description& describe(Tag<App>) { return description_of<App>("App"); }

BOOST_DESCRIBE_STRUCT(AppLogLine, (), (at, stream, line))
const Description& describe(Tag<AppLogLine>) { return description_of<AppLogLine>("AppLogLine"); }

BOOST_DESCRIBE_STRUCT(AppLogFilter, (), (limit))
constexpr auto rules(Tag<AppLogFilter>) {
  return std::tuple{RuleFor<&AppLogFilter::limit>{
      {.about = "the latest lines, oldest first; 100 when omitted", .has_default = true}}};
}
const Description& describe(Tag<AppLogFilter>) { return description_of<AppLogFilter>("AppLogFilter"); }

}  // namespace agw
