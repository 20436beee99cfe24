// Starts one Chromium that all test files share, each with separate contexts, and prints the address at which
// environment.mjs connects to it. Ends when stdin is closed.
import { chromium, launchOptions } from './chromium.mjs';

const server = await chromium.launchServer(launchOptions);
console.log(server.wsEndpoint());
process.stdin.resume();
process.stdin.on('end', () => server.close());
