// What nearly every file reads, compiled once in the preset `dev` (see CMakeLists.txt).
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/cut.hpp"
#include "base/described.hpp"
#include "base/group.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/task.hpp"
