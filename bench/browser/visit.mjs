// Measures the cost of a first visit to any page, as JSON: medians of five with an empty cache.
//   node bench/browser/visit.mjs <url> <regular expression of a text to wait for> [contents of localStorage as JSON]
// Also for pages of other programs, to compare them with ours.
import { visits } from './browser.mjs';

const [url, text, storage = '{}'] = process.argv.slice(2);
if (!text) {
  console.error('usage: node bench/browser/visit.mjs <url> <text to wait for> [localStorage as JSON]');
  process.exit(2);
}
console.log(JSON.stringify(await visits(url, text, JSON.parse(storage))));
