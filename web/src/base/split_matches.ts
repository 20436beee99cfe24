/** Splits a text into pieces that match the search words and pieces that do not. */
export function splitMatches(text: string, q: string): { text: string; hit: boolean }[] {
  const words = q.match(/[\p{L}\p{N}]{2,}/gu)?.filter((word) => !/^(AND|OR|NOT)$/.test(word)) ?? [];
  if (words.length === 0) return [{ text, hit: false }];
  const pieces = text.split(new RegExp(`(${words.join('|')})`, 'giu'));
  return pieces.map((piece, i) => ({ text: piece, hit: i % 2 === 1 })).filter((piece) => piece.text);
}
