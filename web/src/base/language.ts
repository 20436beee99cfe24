/**
 * The language of the page. The source contains the English texts, in calls of `t` and `tn`. `languages/de.json` maps
 * them to German, and is fetched only if German is chosen. A change of the language takes effect after a reload.
 */
import german from '../languages/de.json?url';
import { stored } from './storage';

/** null and undefined are replaced by empty text. */
type Values = Record<string, string | number | null | undefined>;

/** A language of the page. */
export type Language = 'en' | 'de';

/** The person's choice; undefined follows the browser. */
export const chosenLanguage = stored<Language | undefined>('language', undefined);

const wanted = globalThis.navigator?.languages ?? [];
const best = wanted.map((tag) => tag.slice(0, 2)).find((tag) => tag === 'de' || tag === 'en');
export const language: Language = chosenLanguage ?? (best as Language) ?? 'en';

/** For `Intl`: the language, with the browser's region if it has one, such as `en-GB`. */
export const locale = wanted.find((tag) => tag.startsWith(language)) ?? language;

/**
 * Fetches the German texts synchronously, because modules translate their constants when they are evaluated; before
 * that there is nothing to paint. A top-level await would delay every module that imports this one, and cost the chat a
 * request.
 */
function fetched(): Record<string, string | string[]> {
  try {
    const request = new XMLHttpRequest();
    request.open('GET', german, false);
    request.send();
    return JSON.parse(request.responseText) as Record<string, string | string[]>;
  } catch (error) {
    console.warn('German could not be read:', error);
    return {};
  }
}

const translations = language === 'de' ? fetched() : {};

const fill = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => `${values[name] ?? ''}`);

/**
 * `text` in the page's language, with each `{name}` replaced by its value. `text` must be a literal, so that
 * `script/strings.mjs` finds it.
 */
export const t = (text: string, values?: Values): string => {
  const translated = (translations[text] as string | undefined) ?? text;
  return values ? fill(translated, values) : translated;
};

/** `one` if `number` is 1, otherwise `many`, in the page's language. `{count}` is replaced by the number. */
export const tn = (one: string, many: string, number: number, values?: Values): string => {
  const forms = translations[one] ?? [one, many];
  const count = Number.isInteger(number) && Math.abs(number) < 1000 ? number : number.toLocaleString(locale);
  return fill(forms[number === 1 ? 0 : 1] ?? many, { count, ...values });
};

/** A name as written within a sentence: in lower case, except in German, whose nouns keep their capital. */
export const midSentence = (name: string): string => (language === 'de' ? name : name.toLowerCase());

/**
 * Translates the HTML of a component's template. The build writes texts without values into the templates
 * (`script/static_strings.js`), which saves a call for each, and makes Svelte read the templates through this function.
 */
export const localized = (html: string): string =>
  language === 'en'
    ? html
    : html.replace(
        /(>\s*|(?:aria-label|title|placeholder)=")([^<>"]+?)(?=\s*[<"])/g,
        (_, before: string, text: string) => before + t(text),
      );
