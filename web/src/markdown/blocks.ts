/** Parses Markdown incrementally while it streams: finished blocks are never parsed twice. */
import { defaults, Lexer, type Token, type Tokens, type TokensList } from 'marked';
import { allowMissingSpaces } from './cjk';
import { fencedDocument } from './fences';
import { footnote, noteMark } from './footnotes';
import { mathExtensions } from './math';
import { decodeEntities } from './safe';

export interface Block {
  key: number;
  token: Token;
}

/** Longer text is shown in pieces on demand, so that no text can freeze the page. */
export const piece = 30_000;

/** Where to cut `text`: at the end of the line before `limit`, unless that is more than half a piece before it. */
export const cutAt = (text: string, limit: number): number =>
  text.length > limit ? Math.max(text.lastIndexOf('\n', limit) + 1, limit - piece / 2) : text.length;

/** Longer unfinished text is split, except code and tables, so that parsing it again for each delta stays cheap. */
const maxTail = 16_000;

allowMissingSpaces();

const extensions = {
  ...mathExtensions,
  inline: [...mathExtensions.inline, noteMark],
  block: [fencedDocument, ...mathExtensions.block, footnote],
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

type Links = TokensList['links'];

/**
 * Where to split text: before a line that is not indented, because that may belong to an item of a list, or else after
 * one that is not empty, because that may be code, to which empty lines belong only if more code follows.
 */
const splitOf = (text: string): number =>
  (/^[^]*\n(?=\S)/.exec(text) ?? /^[^]*\S *\n/.exec(text))?.[0].length ?? maxTail;

/**
 * Where code or a table that begins `from` has ended, at the latest: after the closing fence, before a line that is not
 * indented, or before an empty line.
 */
function endOf({ type, raw }: Token, text: string, from: number): number {
  if (type !== 'code' && type !== 'table') return from;
  const document = fencedDocument(text.slice(from));
  if (document) return from + document.raw.length;
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  const atEnd = fence
    ? ` {0,3}${fence}${fence[0]}* *$`
    : type === 'code'
      ? '(?! {4}| {0,3}\\t|[ \\t]*$)'
      : '(?=[ \\t]*\\n)';
  const end = new RegExp(`\\n${atEnd}`, 'gm');
  end.lastIndex = from;
  return end.exec(text) ? end.lastIndex : text.length;
}

/** The definitions of links in a block. */
function definitionsIn(token: Token): Tokens.Def[] {
  if (token.type === 'def') return [token as Tokens.Def];
  const { tokens = [], items = [] } = token as Tokens.List & { tokens?: Token[] };
  return [...tokens, ...items].flatMap(definitionsIn);
}

export class BlockReader {
  #read = '';
  #rest = '';
  #blocks: Block[] = [];
  #frozen: Block[] = [];
  #frozenLength = 0;
  /** The links that finished blocks define. */
  #links: Links = {};
  /** All links that the text has defined so far. */
  #known: Links = {};
  /** Where code that continues beyond the limit has ended so far. */
  #codeEnd = 0;

  /** How many characters the last call has read. */
  get length(): number {
    return this.#read.length;
  }

  /** How many characters it has left, if there are other than line breaks. */
  get left(): number {
    return this.#rest.trim() ? this.#rest.length : 0;
  }

  /**
   * The blocks of `text` up to about `limit`; code that has begun before is read to its end. Cheap if the text continues
   * that of the previous call.
   */
  read(text: string, limit = Infinity): Block[] {
    const all = text.replace(/\r\n?/g, '\n');
    const begin = Math.max(cutAt(all, limit), all.startsWith(this.#read) ? this.#codeEnd : 0);
    let blocks = this.#readAll(all.slice(0, begin));
    const last = blocks.at(-1)?.token;
    const end = last?.type === 'code' ? endOf(last, all, begin - last.raw.length) : 0;
    if (end > begin) {
      blocks = this.#readAll(all.slice(0, end));
      this.#codeEnd = end;
    }
    this.#rest = all.slice(this.length);
    return blocks;
  }

  #readAll(text: string): Block[] {
    if (text === this.#read) return this.#blocks;
    if (!text.startsWith(this.#read)) this.#reset();
    this.#read = text;
    const links = { ...this.#links };
    const tail = this.#lexTail(text.slice(this.#frozenLength), links);
    const open = tail.slice(this.#freeze(tail));
    this.#relink(links);
    this.#blocks = [...this.#frozen, ...open.map((token, i) => ({ key: this.#frozen.length + i, token }))];
    return this.#blocks;
  }

  #reset(): void {
    this.#frozen = [];
    this.#frozenLength = this.#codeEnd = 0;
    this.#links = {};
    this.#known = {};
  }

  #lexTail(tail: string, links: Links): Token[] {
    if (tail.length <= maxTail) return this.#lex(tail, links);
    let cut = splitOf(tail.slice(0, maxTail + 1));
    const tokens = this.#lex(tail.slice(0, cut), links);
    const last = tokens.at(-1) as Token;
    const from = cut - last.raw.length;
    const end = endOf(last, tail, from);
    if (end > cut) tokens.splice(-1, 1, ...this.#lex(tail.slice(from, (cut = end)), links));
    return [...tokens, ...this.#lexTail(tail.slice(cut), links)];
  }

  /** Adds the links that `text` defines to `links`. */
  #lex(text: string, links: Links): Token[] {
    const lexer = new Lexer(options());
    Object.assign(lexer.tokens.links, links);
    try {
      const tokens = lexer.lex(text);
      Object.assign(links, tokens.links);
      return tokens;
    } catch {
      return [{ type: 'text', raw: text, text }];
    }
  }

  /** Freezes all but the last two tokens: they are final, because a later token has begun. Returns their number. */
  #freeze(tail: Token[]): number {
    const count = Math.max(0, tail.length - 2);
    for (const token of tail.slice(0, count)) {
      this.#frozen.push({ key: this.#frozen.length, token });
      this.#frozenLength += token.raw.length;
      for (const { tag, href, title } of definitionsIn(token)) this.#links[tag] ??= { href, title };
    }
    return count;
  }

  /** Parses the finished blocks again that mention links which have been defined since. */
  #relink(links: Links): void {
    const changed = Object.keys({ ...this.#known, ...links }).filter(
      (tag) => links[tag]?.href !== this.#known[tag]?.href,
    );
    this.#known = links;
    const mentions = ({ raw }: Token): boolean => {
      const words = raw.toLowerCase().replace(/\s+/g, ' ');
      return changed.some((tag) => words.includes(`[${tag}]`));
    };
    if (changed.length)
      this.#frozen = this.#frozen.map(({ key, token }) => ({
        key,
        token: mentions(token) ? (this.#lex(token.raw, { ...links })[0] ?? token) : token,
      }));
  }
}
