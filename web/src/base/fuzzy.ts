/**
 * How well `typed` matches `text` as a subsequence: 0 for no match; word starts and consecutive letters score higher.
 */
export function fuzzyScore(typed: string, text: string): number {
  const wanted = typed.toLowerCase();
  const given = text.toLowerCase();
  if (!wanted) return 1;
  let total = 0;
  let at = 0;
  let previous = -2;
  for (const letter of wanted) {
    const found = given.indexOf(letter, at);
    if (found < 0) return 0;
    const startsWord = found === 0 || !/[a-z0-9]/.test(given[found - 1] ?? '');
    total += 1 + (found === previous + 1 ? 3 : 0) + (startsWord ? 2 : 0);
    previous = found;
    at = found + 1;
  }
  return total + (given.startsWith(wanted) ? 10 : 0) + wanted.length / (given.length + 1);
}

/** The items that match, best first. */
export function fuzzyFilter<T>(typed: string, all: T[], text: (item: T) => string): T[] {
  const scored = all.map((item) => ({ item, score: fuzzyScore(typed, text(item)) })).filter(({ score: s }) => s > 0);
  return scored.sort((a, b) => b.score - a.score).map(({ item }) => item);
}
