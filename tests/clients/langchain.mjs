// Sends messages with LangChain's ChatOpenAI, configured as in docs/connect-clients.md. Prints the answers as JSON.
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";

const { GATEWAY, TOKEN, MODEL } = process.env;
const model = (name) =>
  new ChatOpenAI({ model: name, apiKey: TOKEN, configuration: { baseURL: `${GATEWAY}/v1` } });

const weather = tool(({ city }) => `sunny in ${city}`, {
  name: "weather",
  description: "Tells the weather.",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
});

const asked = await model("assistant").invoke("Hello");
let streamed = "";
for await (const chunk of await model(MODEL).stream("Hello")) streamed += chunk.text;
const withTools = model(MODEL).bindTools([weather]);
const question = { role: "user", content: "Weather in Rome?" };
const call = await withTools.invoke([question]);
const result = await weather.invoke(call.tool_calls[0]);
const answer = await withTools.invoke([question, call, result]);
console.log(JSON.stringify({ asked: asked.text, streamed, answer: answer.text, usage: asked.usage_metadata.total_tokens }));
