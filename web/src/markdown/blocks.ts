/** Markdown as tokens, read piece by piece while it streams: finished blocks are never read twice. */
import { Lexer, type Token, type Tokens, type TokensList } from 'marked';
import { decodeEntities } from './safe';

export interface Block {
  key: number;
  token: Token;
}

/** An unfinished block longer than this is cut at a line, so that reading it again for each delta stays cheap. */
const longestTail = 16_000;

export function lex(text: string): Token[] {
  try {
    return Lexer.lex(text);
  } catch {
    return [{ type: 'text', raw: text, text }];
  }
}

export const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';

/** What it says, without what it is written with. */
export function wordsOf(token: Token): string {
  const words = 'tokens' in token && token.tokens ? token.tokens.map(wordsOf).join('') : decodeEntities('text' in token ? String(token.text) : token.raw);
  return words.replace(/\s+/g, ' ');
}

export class BlockReader {
  #read = '';
  #frozen: Block[] = [];
  #frozenLength = 0;
  #links: TokensList['links'] = {};

  /** The blocks of `text`. Cheap where it continues the text of the call before. */
  read(text: string): Block[] {
    if (!text.startsWith(this.#read)) this.#reset();
    this.#read = text;
    const tail = this.#lexTail(text.slice(this.#frozenLength));
    this.#freeze(tail);
    const open = tail.slice(this.#frozenNow);
    return [...this.#frozen, ...open.map((token, i) => ({ key: this.#frozen.length + i, token }))];
  }

  #frozenNow = 0;

  #reset(): void {
    this.#frozen = [];
    this.#frozenLength = 0;
    this.#links = {};
  }

  #lexTail(tail: string): Token[] {
    const cut = tail.length > longestTail ? tail.lastIndexOf('\n', longestTail) + 1 || longestTail : 0;
    if (!cut) return this.#lex(tail);
    return [...this.#lex(tail.slice(0, cut)), ...this.#lexTail(tail.slice(cut))];
  }

  #lex(text: string): Token[] {
    const lexer = new Lexer();
    Object.assign(lexer.tokens.links, this.#links);
    try {
      const tokens = lexer.lex(text);
      Object.assign(this.#links, lexer.tokens.links);
      return tokens;
    } catch {
      return [{ type: 'text', raw: text, text }];
    }
  }

  /** All but the last two tokens cannot change any more: what follows them has begun. */
  #freeze(tail: Token[]): void {
    this.#frozenNow = Math.max(0, tail.length - 2);
    for (const token of tail.slice(0, this.#frozenNow)) {
      this.#frozen.push({ key: this.#frozen.length, token });
      this.#frozenLength += token.raw.length;
    }
  }
}
