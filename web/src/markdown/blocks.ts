/** Parses Markdown incrementally while it streams: finished blocks are never parsed twice. */
import { defaults, Lexer, type Token, type Tokens, type TokensList } from 'marked';
import { footnote, noteMark } from './footnotes';
import { mathExtensions } from './math';
import { decodeEntities } from './safe';

export interface Block {
  key: number;
  token: Token;
}

/** A longer unfinished block is split at a line, so that parsing it again for each delta stays cheap. */
const maxTail = 16_000;

const extensions = {
  ...mathExtensions,
  inline: [...mathExtensions.inline, noteMark],
  block: [...mathExtensions.block, footnote],
};

/** Creates new options for each lexer: marked stores the tokenizer in them, which knows the links of one text. */
const options = (): typeof defaults => ({ ...defaults, extensions: extensions as typeof defaults.extensions });

export function lex(text: string): Token[] {
  try {
    return Lexer.lex(text, options());
  } catch {
    return [{ type: 'text', raw: text, text }];
  }
}

export const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';

/** The text of a token without markup. */
export function wordsOf(token: Token): string {
  const words =
    'tokens' in token && token.tokens
      ? token.tokens.map(wordsOf).join('')
      : decodeEntities('text' in token ? String(token.text) : token.raw);
  return words.replace(/\s+/g, ' ');
}

export class BlockReader {
  #read = '';
  #frozen: Block[] = [];
  #frozenLength = 0;
  #links: TokensList['links'] = {};

  /** The blocks of `text`. Cheap if it continues the text of the previous call. */
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
    const cut = tail.length > maxTail ? tail.lastIndexOf('\n', maxTail) + 1 || maxTail : 0;
    if (!cut) return this.#lex(tail);
    return [...this.#lex(tail.slice(0, cut)), ...this.#lexTail(tail.slice(cut))];
  }

  #lex(text: string): Token[] {
    const lexer = new Lexer(options());
    Object.assign(lexer.tokens.links, this.#links);
    try {
      const tokens = lexer.lex(text);
      Object.assign(this.#links, lexer.tokens.links);
      return tokens;
    } catch {
      return [{ type: 'text', raw: text, text }];
    }
  }

  /** All but the last two tokens are final, because a later token has begun. */
  #freeze(tail: Token[]): void {
    this.#frozenNow = Math.max(0, tail.length - 2);
    for (const token of tail.slice(0, this.#frozenNow)) {
      this.#frozen.push({ key: this.#frozen.length, token });
      this.#frozenLength += token.raw.length;
    }
  }
}
