-- A browser that is subscribed to notices while its page is closed. `endpoint` is its address at its push service;
-- anyone who has it and the gateway's key can send to it. `p256dh` and `auth` are the browser's keys in base64url,
-- `kinds` a JSON array. `device` is the page's id of this browser, which its WebSockets name too. `gateway_key` and
-- `token_id` are the public key and the bearer token at the time of the subscription: once either has changed, the
-- row is useless.
CREATE TABLE push_subscriptions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  endpoint TEXT NOT NULL UNIQUE,
  p256dh TEXT NOT NULL,
  auth TEXT NOT NULL,
  kinds TEXT NOT NULL,
  device TEXT,
  gateway_key TEXT NOT NULL,
  token_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;
