// Anthropic's own client. The argument names the case; the result is printed as JSON.
import Anthropic from "@anthropic-ai/sdk";

const { GATEWAY: baseURL, TOKEN: apiKey, MODEL: model } = process.env;
const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
const tools = [
  { name: "weather", description: "Weather of a city", input_schema: { type: "object", properties: { city: { type: "string" } } } },
];
const messages = [{ role: "user", content: "Weather in Rome?" }];
const request = { model, max_tokens: 4096, messages };

const cases = {
  whole: () => client.messages.create(request),
  stream: async () => {
    const stream = client.messages.stream({ ...request, thinking: { type: "enabled", budget_tokens: 1024 } });
    const events = [];
    stream.on("streamEvent", (event) => events.push(event.type));
    return { message: await stream.finalMessage(), events };
  },
  tools: async () => {
    const asked = await client.messages.stream({ ...request, tools }).finalMessage();
    const result = { type: "tool_result", tool_use_id: asked.content.at(-1).id, content: "sunny" };
    const conversation = [...messages, { role: "assistant", content: asked.content }, { role: "user", content: [result] }];
    return { asked, answered: await client.messages.create({ ...request, tools, messages: conversation }) };
  },
  count: () => client.messages.countTokens({ model, messages, tools }),
  models: async () => {
    const listed = [];
    for await (const one of client.models.list({ limit: 2 })) listed.push(one);
    return { listed, one: await client.models.retrieve(model) };
  },
  errors: async () => {
    const failures = [];
    const fail = async (call) => {
      try {
        await call();
      } catch (error) {
        failures.push({ name: error.constructor.name, status: error.status, type: error.error?.error?.type });
      }
    };
    await fail(() => client.messages.create({ ...request, model: "nobody/m" }));
    await fail(() => client.messages.create({ ...request, max_tokens: undefined }));
    await fail(() => new Anthropic({ baseURL, apiKey: "wrong", maxRetries: 0 }).messages.create(request));
    return failures;
  },
  broken: async () => {
    const texts = [];
    try {
      for await (const event of await client.messages.create({ ...request, stream: true })) {
        if (event.type === "content_block_delta") texts.push(event.delta.text);
      }
    } catch (error) {
      return { texts, type: error.error?.error?.type };
    }
    return { texts };
  },
};

console.log(JSON.stringify(await cases[process.argv[2]]()));
