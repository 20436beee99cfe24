/** Sentences of an answer that is still being written, and of what a microphone hears while they are read. */

/** A line, or a sentence with the text after it: a space marks the end of a sentence. */
const ends = /\n|[.!?…][\p{Pe}\p{Pf}"'*]*\s|[。！？]/gu;

/** Where the last complete sentence ends. */
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

/** Whether a microphone heard nothing but what is read aloud: most of the words are from there. */
export function isEcho(heard: string, read: string): boolean {
  const words = wordsOf(heard);
  const known = wordsOf(read);
  // Not every script has spaces between its words.
  if (known.join('').includes(words.join(''))) return true;
  return words.filter((word) => !known.includes(word)).length * 2 < words.length;
}
