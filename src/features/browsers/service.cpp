#include "features/browsers/service.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/route.hpp"
#include "api/socket_messages.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text/is_within.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"
#include "features/browsers/browser.hpp"
#include "features/browsers/identity.hpp"
#include "features/browsers/messages.hpp"
#include "features/extensions/service.hpp"
#include "features/permissions/service.hpp"
#include "features/threads/service.hpp"
#include "io/process/spawn.hpp"
#include "io/sandbox/sandbox.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

/// In bytes: messages are parsed on the loop.
constexpr std::size_t max_browser_message = std::size_t{256} * 1024;
constexpr std::int64_t browser_memory_mb = 4096;
constexpr std::size_t max_allowed_hosts = 100;
constexpr auto browser_path = "/usr/local/bin:/usr/bin:/bin:/opt/google/chrome";
constexpr auto needs_no_sockets = "headless-shell";
constexpr std::array chromium_names{"chromium-headless-shell", "chrome-headless-shell", "chromium",
                                    "google-chrome-stable",    "google-chrome",         "chromium-browser"};

/// Empty: there is none.
std::string find_chromium(const std::string& configured) {
  if (!configured.empty()) return ::access(configured.c_str(), X_OK) == 0 ? configured : std::string();
  for (const auto* name : chromium_names) {
    auto path = find_program(name, browser_path);
    if (path != name) return path;
  }
  return {};
}

/// The sandbox uses the descriptors 3 and 4 of Chromium's pipes itself, so a shell moves its standard streams there. It
/// also names the browser to sites as an ordinary one: many refuse a headless one. The identity of tabs (identity.hpp)
/// does not apply to service workers.
std::string chromium_starter() {
  return R"sh(version=$(expr "$("$1" --version 2>/dev/null </dev/null)" : '[^0-9]*\([0-9]*\)')
exec "$@" ${version:+--user-agent=")sh" +
         ordinary_user_agent("$version") + R"sh("} 3<&0 4>&1 0</dev/null 1>&2)sh";
}

std::vector<std::string> chromium_command(const std::string& program, const fs::path& profile) {
  const ViewSize size;
  return {"/bin/sh", "-c", chromium_starter(), "sh", program, "--headless", "--remote-debugging-pipe",
          // Pages are in the gateway's sandbox, in which Chromium's own cannot start.
          "--no-sandbox", fmt::format("--proxy-server=http://127.0.0.1:{}", ProxiedNetwork::port),
          "--proxy-bypass-list=<-loopback>", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
          "--user-data-dir=" + profile.string(), "--disk-cache-dir=/tmp/cache", "--disk-cache-size=67108864",
          "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--no-default-browser-check",
          "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
          "--disable-breakpad", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
          "--disable-features=Translate,OptimizationHints,MediaRouter", "--password-store=basic", "--mute-audio",
          fmt::format("--window-size={},{}", size.width, size.height), "about:blank"};
}

SandboxSpec chromium_spec(const std::string& program, const fs::path& profile, int processes, SandboxNetwork& network) {
  SandboxSpec spec{.directory = profile,
                   .writable = {profile},
                   .network = &network,
                   .unix_sockets = program.find(needs_no_sockets) == program.npos,
                   .environment = {{"HOME", profile.string()}},
                   .memory_mb = browser_memory_mb,
                   .processes = processes};
  std::error_code missing;
  const auto directory = fs::canonical(program, missing).parent_path();
  if (!missing && !is_within(directory, "/usr") && !is_within(directory, "/opt")) spec.readable.push_back(directory);
  return spec;
}

/// Creates the profile. A Chromium that was killed has left a lock there.
void make_profile(const fs::path& profile) {
  fs::create_directories(profile);
  fs::permissions(profile.parent_path(), fs::perms::owner_all);
  for (const auto* name : {"SingletonLock", "SingletonSocket", "SingletonCookie"}) fs::remove(profile / name);
}

/// The hosts that a person's enabled integrations of the kind `browser` name.
bool is_named(const Extensions& extensions, const std::string& host) {
  const auto all = extensions.list({.type = ExtensionType::integration, .enabled = true});
  return std::ranges::any_of(all, [&](const ExtensionPointer& each) {
    if (string_or_empty(each->definition.members(), "kind") != "browser") return false;
    const auto found = program_permission(program_hosts(*each), extensions, host);
    return found.verdict == Permission::Verdict::allowed && found.names_host;
  });
}

/// Detaches a client from its browser when the client ends.
struct ScopedClient {
  Browser& browser;
  BrowserClient& client;
  ~ScopedClient() { browser.detach(client); }
};

Task<HostVerdict> allowed_by_a_person() { co_return HostVerdict{.allowed = true, .may_be_private = true}; }

}  // namespace

/// What the proxy of a browser and the browser share.
struct Browsers::Reach {
  std::set<std::string> allowed;  ///< by a person, until the browser ends
  std::weak_ptr<Browser> browser;

  static ProxyPolicy policy(std::shared_ptr<Reach> reach, const Extensions& extensions) {
    auto policy =
        program_policy({.name = "the browser", .source = Source::user}, extensions, [](const std::string&) {});
    policy.judge = [reach, &extensions, others = std::move(policy.judge)](const HostPort& target) {
      const auto host = target.text();
      return reach->allowed.contains(host) || is_named(extensions, host) ? allowed_by_a_person() : others(target);
    };
    policy.note = [reach](const HostPort& target, const HostVerdict& verdict) {
      const auto browser = reach->browser.lock();
      if (browser && !verdict.allowed) browser->report_refusal(target.text(), verdict.reason, verdict.is_forbidden);
    };
    policy.named_in = "an integration of the kind `browser`, or allows it in the browser";
    return policy;
  }

  static void allow(const std::shared_ptr<Reach>& reach, const std::string& host) {
    if (reach->allowed.size() >= max_allowed_hosts) throw TooManyRequests("too many hosts are allowed in this browser");
    reach->allowed.insert(host);
  }
};

/// A browser that is being started, until it is in `browsers_`.
struct Browsers::ScopedStart {
  Browsers& browsers;
  const std::string& thread_id;
  ~ScopedStart() {
    browsers.starting_.erase(thread_id);
    browsers.ended_.pulse();
  }
};

Browsers::Browsers(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox, Threads& threads,
                   const Extensions& extensions, Options options)
    : loop_(loop),
      blocking_(blocking),
      sandbox_(sandbox),
      threads_(threads),
      extensions_(extensions),
      options_(std::move(options)),
      ended_(loop),
      life_(loop) {
  AGW_ASSERT(options_.limits.count > 0);
  life_.on_failure([](const std::exception_ptr& failure) { log::error("browsers: {}", message_of(failure)); });
  threads_.at_remove([this](const std::string& id) {
    if (!is_ending_) life_.spawn(forget(id));
  });
}

Browsers::~Browsers() = default;

void Browsers::start() { life_.spawn(remove_old_profiles()); }

Task<> Browsers::stop() {
  is_ending_ = true;
  for (const auto& [id, browser] : browsers_) browser->end(BrowserEnd::stopped);
  ended_.pulse();
  co_await life_.join();
}

std::optional<std::string> Browsers::problem() const {
  if (!options_.allowed) return "there are no browsers: config.yaml has `browser: deny`";
  if (!sandbox_.is_enabled()) return "browsers need the sandbox: remove `sandbox: none` from config.yaml";
  if (!find_chromium(options_.program).empty()) return std::nullopt;
  if (!options_.program.empty())
    return fmt::format("no browser is installed: `browser` in config.yaml is {}, which is no program",
                       options_.program);
  return "no browser is installed: install chromium-headless-shell (Debian: apt install chromium-headless-shell) or "
         "Google Chrome, or name the program with `browser` in config.yaml";
}

void Browsers::require_possible() const {
  if (const auto why = problem()) throw ApiError(options_.allowed && sandbox_.is_enabled() ? 503 : 403, *why);
  if (is_ending_) throw ApiError(503, "the gateway stops");
}

Task<BrowserPointer> Browsers::open(std::string thread_id) {
  auto opened = co_await join(std::move(thread_id));
  co_return std::move(opened.first);
}

/// The browser of the thread, and whether it is new.
Task<std::pair<BrowserPointer, bool>> Browsers::join(std::string thread_id) {
  require_possible();
  const auto thread = co_await threads_.require(std::move(thread_id));
  for (;;) {
    require_possible();
    const auto found = browsers_.find(thread.id);
    if (found != browsers_.end() && !found->second->reason()) {
      const auto browser = found->second;
      co_await browser->wait_until_ready();
      co_return std::pair(browser, false);
    }
    // One that is starting, or one that still ends, uses the profile.
    if (found == browsers_.end() && !starting_.contains(thread.id)) break;
    co_await ended_.wait();
  }
  if (browsers_.size() + starting_.size() >= options_.limits.count)
    throw TooManyRequests(
        fmt::format("at most {} browsers are open at the same time: close one", options_.limits.count));
  BrowserPointer browser;
  {
    starting_.insert(thread.id);
    const ScopedStart scope{*this, thread.id};
    browser = co_await start(thread.id);
    AGW_ASSERT(!browsers_.contains(thread.id));
    browsers_[thread.id] = browser;
    life_.spawn(run(thread.id, browser));
  }
  if (forgotten_.contains(thread.id)) browser->end(BrowserEnd::deleted);
  co_await browser->wait_until_ready();
  co_return std::pair(browser, true);
}

Task<BrowserPointer> Browsers::start(std::string thread_id) {
  const auto reach = std::make_shared<Reach>();
  const auto network = std::make_shared<ProxiedNetwork>(loop_, blocking_, Reach::policy(reach, extensions_));
  try {
    auto [process, disks] =
        co_await blocking_.run([&sandbox = sandbox_, processes = options_.limits.processes,
                                program = find_chromium(options_.program), profile = profile(thread_id), network] {
          make_profile(profile);
          const auto spec = chromium_spec(program, profile, processes, *network);
          return std::pair(sandbox.wrap(chromium_command(program, profile), spec), DiskSpaceMonitor(spec.writable));
        });
    if (is_ending_) throw ApiError(503, "the gateway stops");
    process.separate_stderr = true;
    auto browser = std::make_shared<Browser>(
        loop_, blocking_, options_.limits,
        Browser::Parts{.process = std::move(process),
                       .network = network,
                       .allow = [reach](const std::string& host) { Reach::allow(reach, host); }},
        std::move(disks));
    reach->browser = browser;
    co_return browser;
  } catch (const ProcessError& error) {
    throw ApiError(503, fmt::format("no browser can be opened: {}", error.what()));
  } catch (const std::system_error& error) {
    throw ApiError(503, fmt::format("no browser can be opened: {}", error.what()));
  }
}

Task<> Browsers::run(std::string thread_id, BrowserPointer browser) {
  co_await browser->live();
  if (forgotten_.erase(thread_id) > 0) co_await remove_profile(thread_id);
  const auto erased = browsers_.erase(thread_id);
  AGW_ASSERT(erased == 1);
  ended_.pulse();
}

Task<> Browsers::serve(Request& /*request*/, MessageSocket& socket) {
  BrowserClient client(socket);
  BrowserPointer browser;
  try {
    const auto first = co_await client.read();
    if (!first) co_return;
    const auto wanted = parse_message(*first);
    if (string_or_empty(wanted, "type") != "open") throw BadRequest("the first message must be of type open");
    const auto size = view_size(wanted);
    const auto [opened, is_new] = co_await join(string_or_empty(wanted, "threadId"));
    browser = opened;
    client.send({{"type", "opened"}, {"isNew", is_new}});
    browser->resize(size);
    browser->attach(client);
  } catch (const ApiError& error) {
    client.send(error_message(error));
    co_return;
  }
  const ScopedClient scope{*browser, client};
  while (const auto text = co_await client.read()) {
    try {
      take_message(*browser, client, parse_message(*text));
    } catch (const ApiError& error) {
      client.send(error_message(error));
    }
  }
}

fs::path Browsers::profile(const std::string& thread_id) const { return options_.directory / thread_id; }

Task<> Browsers::forget(std::string thread_id) {
  const auto found = browsers_.find(thread_id);
  if (found == browsers_.end() && !starting_.contains(thread_id)) co_return co_await remove_profile(thread_id);
  // `run` removes its profile.
  forgotten_.insert(thread_id);
  if (found != browsers_.end()) found->second->end(BrowserEnd::deleted);
}

Task<> Browsers::remove_old_profiles() {
  const auto ids = co_await blocking_.run([directory = options_.directory] {
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(directory, missing)) names.push_back(entry.path().filename());
    return names;
  });
  for (const auto& id : ids) {
    if (is_ending_) co_return;
    bool exists = true;
    try {
      co_await threads_.require(id);
    } catch (const NotFound&) {
      exists = false;
    }
    if (!exists) co_await remove_profile(id);
  }
}

Task<> Browsers::remove_profile(std::string thread_id) {
  co_await blocking_.run([path = profile(thread_id)] {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) log::warn("the browser's profile {} cannot be removed: {}", path.string(), error.message());
  });
}

Browsers::Options browser_options(const Settings& settings, const DataDirectory& directory) {
  const bool is_denied = settings.browser == "deny";
  return {.allowed = !is_denied,
          .program = is_denied ? std::string() : settings.browser,
          .directory = directory.own / "browsers"};
}

Routes browser_routes(Browsers& browsers) {
  return {web_socket("/browsers", "A web browser of a chat, which its agents use too", &Browsers::serve, browsers)
              .limits_body(max_browser_message)};
}

}  // namespace agw
