// CopilotKit's mock of model services, on a free port. The argument names a file with its answers; the address is printed
// once it listens.
import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: 0, logLevel: "silent", journalMaxEntries: 0 });
mock.loadFixtureFile(process.argv[2]);
console.log(await mock.start());
