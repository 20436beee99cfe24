// Uses the gateway's MCP server with the client of the SDK, and prints the results as JSON. Arguments: node_modules, the
// address, the token.
import { pathToFileURL } from "node:url";

const [modules, url, token] = process.argv.slice(2);
const sdk = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/sdk/dist/esm/${path}.js`));
const { Client } = await sdk("client/index");
const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp");
const types = await sdk("types");

const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
const asked = [];
client.setRequestHandler(types.ElicitRequestSchema, (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: { decision: "deny", reason: "not now" } };
});
const updated = new Promise((resolve) =>
  client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, (notice) => resolve(notice.params.uri)));

const transport = new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
});
await client.connect(transport);
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const health = await client.callTool({ name: "get_health", arguments: {} });
const progress = [];
const said = await client.callTool({ name: "ask_assistant", arguments: { message: "Do it", mode: "act" } }, undefined,
  { onprogress: (step) => progress.push(step.message) });
const thread = said.content[0].text.match(/\(thread (.*)\)/)[1];
const uri = `agw://threads/${thread}`;
const read = await client.readResource({ uri });
await client.subscribeResource({ uri });
await client.callTool({ name: "chat", arguments: { message: "Again", thread } });
const templates = (await client.listResourceTemplates()).resourceTemplates.length;
const completed = await client.complete({ ref: { type: "ref/resource", uri: "agw://threads/{id}" },
  argument: { name: "id", value: thread.slice(0, 8) } });
const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
let missing = 0;
try {
  await client.readResource({ uri: "agw://threads/none" });
} catch (error) {
  missing = error.code;
}
console.log(JSON.stringify({ tools, health: health.structuredContent, progress, said: said.content[0].text, asked,
  read: read.contents[0].text, updated: await updated, uri, templates, thread, completed: completed.completion.values,
  prompts, missing }));
await transport.terminateSession();
await client.close();
process.exit(0);
