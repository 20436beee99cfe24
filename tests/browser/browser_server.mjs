// Starts one Chromium that the test files share, each with contexts of its own, and prints the address at which
// environment.mjs connects to it. It ends when stdin does.
import { chromium, launchOptions } from './chromium.mjs';

const server = await chromium.launchServer(launchOptions);
console.log(server.wsEndpoint());
process.stdin.resume();
process.stdin.on('end', () => server.close());
