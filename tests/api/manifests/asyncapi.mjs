// Prints what AsyncAPI's own parser finds wrong (errors and warnings) with the document given as a file.
import { readFileSync } from 'node:fs';
import { Parser } from '@asyncapi/parser';

const { document, diagnostics } = await new Parser().parse(readFileSync(process.argv[2], 'utf8'));
for (const found of diagnostics.filter(({ severity }) => severity <= 1)) console.log(found.code, found.path.join('.'), found.message);
process.exit(document ? 0 : 1);
