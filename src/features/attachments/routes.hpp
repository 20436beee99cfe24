#pragma once

#include "api/route.hpp"

namespace agw {

class Attachments;

/// The endpoint of uploads, `/files`.
Routes attachment_routes(Attachments& attachments);

}  // namespace agw
