// OpenAI's own client. The argument names the case; the result is printed as JSON.
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";

const { GATEWAY, TOKEN: apiKey, MODEL: model } = process.env;
const client = new OpenAI({ baseURL: `${GATEWAY}/v1`, apiKey, maxRetries: 0 });
const parameters = { type: "object", properties: { city: { type: "string" } } };
const tools = [{ type: "function", function: { name: "weather", description: "Weather of a city", parameters } }];
const messages = [{ role: "user", content: "Weather in Rome?" }];

const cases = {
  chat: () => client.chat.completions.create({ model, messages }),
  stream: async () => {
    const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
    return stream.finalChatCompletion();
  },
  tools: async () => {
    const asked = await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion();
    const said = asked.choices[0].message;
    const result = { role: "tool", tool_call_id: said.tool_calls[0].id, content: "sunny" };
    const answered = await client.chat.completions.create({ model, tools, messages: [...messages, said, result] });
    return { asked, answered };
  },
  models: async () => {
    const listed = [];
    for await (const one of client.models.list()) listed.push(one.id);
    return { listed, one: await client.models.retrieve(model) };
  },
  response: () => client.responses.create({ model, input: "Weather in Rome?" }),
  responseStream: async () => {
    const tool = { type: "function", name: "weather", description: "Weather of a city", parameters, strict: false };
    const stream = client.responses.stream({ model, input: "Weather in Rome?", tools: [tool] });
    const numbers = [];
    for await (const event of stream) numbers.push(event.sequence_number);
    return { numbers, final: await stream.finalResponse() };
  },
  socket: async () => {
    const socket = new ResponsesWS(client);
    const next = (members) =>
      new Promise((resolve, reject) => {
        const kinds = [];
        const take = (event) => {
          kinds.push(event.type);
          if (event.type !== "response.completed") return;
          socket.off("event", take);
          resolve({ kinds, response: event.response });
        };
        socket.on("event", take);
        socket.on("error", reject);
        socket.send({ type: "response.create", model, store: false, ...members });
      });
    const first = await next({ input: "One" });
    const second = await next({ input: "Two", previous_response_id: first.response.id });
    socket.close();
    return [first, second];
  },
  errors: async () => {
    const failures = [];
    const fail = async (call) => {
      try {
        await call();
      } catch (error) {
        failures.push({ name: error.constructor.name, status: error.status, param: error.param });
      }
    };
    await fail(() => client.chat.completions.create({ model: "nobody/m", messages }));
    await fail(() => client.chat.completions.create({ model, messages, n: 5 }));
    const stranger = new OpenAI({ baseURL: `${GATEWAY}/v1`, apiKey: "wrong", maxRetries: 0 });
    await fail(() => stranger.chat.completions.create({ model, messages }));
    return failures;
  },
};

console.log(JSON.stringify(await cases[process.argv[2]]()));
