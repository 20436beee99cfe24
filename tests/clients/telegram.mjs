// An emulated Bot API server, on a free port. Its address is printed once it listens.
import { createServer } from "node:net";
import { TelegramServer } from "telegram-test-api/lib/telegramServer.js";

const probe = createServer().listen(0, "127.0.0.1");
await new Promise((resolve) => probe.once("listening", resolve));
const { port } = probe.address();
await new Promise((resolve) => probe.close(resolve));
const server = new TelegramServer({ host: "127.0.0.1", port, storeTimeout: 600 });
await server.start();
console.log(server.config.apiURL);
