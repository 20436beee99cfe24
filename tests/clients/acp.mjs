// A client built with the protocol's own library: prompts an agent, grants permissions, cancels a prompt during its answer,
// prompts again and loads the session. The arguments are the command of the agent; prints its observations as JSON.
import { once } from "node:events";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const agent = spawn(process.argv[2], process.argv.slice(3), { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const updates = [];
const asked = [];
const exited = once(agent, "exit");
let onUpdate = () => {};

const app = client({ name: "test" })
  .onNotification(methods.client.session.update, ({ params }) => {
    updates.push(params.update);
    onUpdate(params.update);
  })
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
  const send = (text) =>
    context.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  const { stopReason } = await send("Do it.");
  const first = said();
  const calls = updates.filter((update) => update.sessionUpdate === "tool_call_update").map((update) => update.status);
  updates.length = 0;
  onUpdate = (update) => {
    if (update.sessionUpdate === "agent_message_chunk") context.notify(methods.agent.session.cancel, { sessionId });
  };
  const cancelled = { ...(await send("Say it all.")), said: said() };
  onUpdate = () => {};
  updates.length = 0;
  const next = { ...(await send("Go on.")), said: said() };
  updates.length = 0;
  await context.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  return { sessionId, protocolVersion, stopReason, said: first, calls, asked, cancelled, next, replayed: said() };
});
agent.stdin.end();
const [exit] = await exited;
console.log(JSON.stringify({ ...seen, exit }));
