/** Formats for numbers, times and money. */
import { language, locale, t, tn } from './language';

/** The first use of `Intl` takes a browser 15 to 30 ms, so the first view in English must not need it. */
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

export const count = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1000 ? `${value}` : value.toLocaleString(locale);

let relative: Intl.RelativeTimeFormat | undefined;

/** `value` units from now, or ago if negative. */
function ago(value: number, unit: Intl.RelativeTimeFormatUnit): string {
  if (language !== 'en') return (relative ??= new Intl.RelativeTimeFormat(locale)).format(value, unit);
  const many = Math.abs(value);
  const words = `${many} ${unit}${many === 1 ? '' : 's'}`;
  return value < 0 ? `${words} ago` : `in ${words}`;
}

/** `5 minutes ago`, `in 2 days`. Rounds down, so an hour is never “60 minutes”. */
export function relativeTime(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000;
  for (const [unit, size] of steps) {
    const many = Math.floor(Math.abs(seconds) / size);
    if (Math.abs(seconds) >= size) return ago(seconds < 0 ? -many : many, unit);
  }
  return seconds > 0 ? t('in a moment') : t('just now');
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  const format =
    known ??
    new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', ...(timeZone && { timeZone }) });
  formats.set(timeZone, format);
  return format;
}

/** The date and time with the time zone, which schedules must always state. */
export function absoluteTime(at: string, timeZone?: string | null): string {
  try {
    const format = formatIn(timeZone ?? '');
    return `${format.format(new Date(at))} ${timeZone ?? format.resolvedOptions().timeZone}`;
  } catch {
    return at;
  }
}

/** A heading for a day: `Today`, `Yesterday`, or the date. */
export function day(at: string, now = new Date()): string {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  const time = Date.parse(at);
  if (time >= midnight.getTime()) return t('Today');
  // Days differ in length.
  if (time >= midnight.setDate(midnight.getDate() - 1)) return t('Yesterday');
  return new Date(at).toLocaleDateString(locale, { dateStyle: 'medium' });
}

/** `value` with `digits` decimals. */
export const decimals = (value: number, digits: number): string =>
  language === 'en'
    ? value.toFixed(digits)
    : value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });

const inDollars = (amount: string): string => (language === 'en' ? `$${amount}` : `${amount} $`);

/** `$12.34`; four decimals below a dollar; `<$0.0001` for amounts that would be shown as zero. */
export function money(usd: number): string {
  if (usd === 0) return inDollars('0');
  if (usd < 0.0001) return `<${inDollars(decimals(0.0001, 4))}`;
  if (usd < 1) return inDollars(decimals(usd, 4));
  return inDollars(usd.toLocaleString(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 }));
}

/** `40 ms`, `3.2 s`, `4 min 5 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${decimals(milliseconds / 1000, 1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(size: number): string {
  if (size < 1024) return tn('{count} byte', '{count} bytes', size);
  return size < 1_048_576 ? `${decimals(size / 1024, 1)} KB` : `${decimals(size / 1_048_576, 1)} MB`;
}

/** The first line of a text, truncated to `length`. */
export function firstLine(text: string, length = 80): string {
  const line = text.trimStart().split('\n', 1)[0] ?? '';
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
