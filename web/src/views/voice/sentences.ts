/** Splits an answer that is still being written into sentences, and detects their echo in the microphone. */

/** Matches the end of a line, or of a sentence: punctuation and the space after it. CJK sentences need no space. */
const ends = /\n|[.!?…][\p{Pe}\p{Pf}"'*]*\s|[。！？]/gu;

/** The end of the last complete sentence, as an index; 0 if there is none. */
export function completeUpTo(text: string): number {
  let end = 0;
  for (const found of text.matchAll(ends)) end = found.index + found[0].length;
  return end;
}

export function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const found of text.matchAll(ends)) {
    sentences.push(text.slice(from, found.index + found[0].length));
    from = found.index + found[0].length;
  }
  sentences.push(text.slice(from));
  return sentences.map((one) => one.trim()).filter((one) => /[\p{L}\p{N}]/u.test(one));
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether the microphone heard only the text being read aloud: more than half of the words are from it. */
export function isEcho(heard: string, read: string): boolean {
  const words = wordsOf(heard);
  const known = wordsOf(read);
  // Not every script has spaces between its words.
  if (known.join('').includes(words.join(''))) return true;
  return words.filter((word) => !known.includes(word)).length * 2 < words.length;
}
