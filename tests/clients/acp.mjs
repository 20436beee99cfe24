// A client made with the protocol's own library: prompts an agent, allows what it asks for, cancels, loads the session.
// Its arguments are the command of the agent; it prints what it saw as JSON.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const agent = spawn(process.argv[2], process.argv.slice(3), { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const updates = [];
const asked = [];

const app = client({ name: "test" })
  .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    asked.push(params.options.map((option) => option.kind));
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  });

const said = () =>
  updates.filter((update) => update.sessionUpdate === "agent_message_chunk").map((update) => update.content.text).join("");

const seen = await app.connectWith(stream, async (context) => {
  const { protocolVersion } = await context.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: {},
  });
  const cwd = process.cwd();
  const { sessionId } = await context.request(methods.agent.session.new, { cwd, mcpServers: [] });
  const prompt = [{ type: "text", text: "Do it." }];
  const { stopReason } = await context.request(methods.agent.session.prompt, { sessionId, prompt });
  const first = said();
  const calls = updates.filter((update) => update.sessionUpdate === "tool_call_update").map((update) => update.status);
  updates.length = 0;
  await context.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  return { protocolVersion, stopReason, said: first, calls, asked, replayed: said() };
});
console.log(JSON.stringify(seen));
agent.stdin.end();
