// Registers the gateway's manual with the real client, then makes the calls that stdin lists as JSON ([name, input], …).
// Prints as JSON how many tools there are, and each answer: {"answer": …} or {"error": …}.
import { readFileSync } from 'node:fs';
import '@utcp/http';
import { UtcpClient } from '@utcp/sdk';

const [url, token] = process.argv.slice(2);
const print = console.log;
console.log = console.warn = console.error = () => {};
const client = await UtcpClient.create(process.cwd(), { variables: { gateway_GATEWAY_TOKEN: token } });
const { manual } = await client.registerManual({
  name: 'gateway', call_template_type: 'http', http_method: 'GET', url: `${url}/utcp`, content_type: 'application/json',
  auth: { auth_type: 'api_key', api_key: 'Bearer ${GATEWAY_TOKEN}', var_name: 'Authorization', location: 'header' },
});
const answers = [];
for (const [name, input] of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    answers.push({ answer: await client.callTool(`gateway.${name}`, input) });
  } catch (error) {
    answers.push({ error: `${error.message} ${JSON.stringify(error.response?.data)}` });
  }
}
print(JSON.stringify({ tools: manual.tools.map(({ name }) => name), answers }));
process.exit(0);
