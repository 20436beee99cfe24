// The AI SDK with its client for OpenAI-compatible services. The argument names the case; the result is printed as JSON.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";

const { GATEWAY, TOKEN: apiKey, MODEL } = process.env;
const model = createOpenAICompatible({ name: "gateway", baseURL: `${GATEWAY}/v1`, apiKey, includeUsage: true })(MODEL);
const prompt = "Weather in Rome?";

const cases = {
  text: async () => {
    const { text, reasoningText, usage, finishReason } = await generateText({ model, prompt });
    return { text, reasoningText, usage, finishReason };
  },
  tools: async () => {
    const inputSchema = jsonSchema({ type: "object", properties: { city: { type: "string" } } });
    const weather = tool({ description: "Weather of a city", inputSchema, execute: async ({ city }) => `sunny in ${city}` });
    const stream = streamText({ model, prompt, tools: { weather }, stopWhen: isStepCount(3) });
    return { text: await stream.text, steps: (await stream.steps).length };
  },
};

console.log(JSON.stringify(await cases[process.argv[2]]()));
