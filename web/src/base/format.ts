/** Formats for numbers, times and money. */

/** The first use of `Intl` takes a browser 15 to 30 ms, so the first view must not need it. */
const steps: [string, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

export const count = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1000 ? `${value}` : value.toLocaleString();

/** `3 tools`, `1 tool`. */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** `5 minutes ago`, `in 2 days`. Rounds down, so an hour is never “60 minutes”. */
export function relativeTime(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000;
  for (const [unit, size] of steps) {
    const many = Math.floor(Math.abs(seconds) / size);
    if (Math.abs(seconds) >= size) return seconds < 0 ? `${plural(many, unit)} ago` : `in ${plural(many, unit)}`;
  }
  return seconds > 0 ? 'in a moment' : 'just now';
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  const format =
    known ??
    new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', ...(timeZone && { timeZone }) });
  formats.set(timeZone, format);
  return format;
}

/** Includes the time zone, which schedules must always name. */
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
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const time = Date.parse(at);
  if (time >= midnight) return 'Today';
  if (time >= midnight - 86_400_000) return 'Yesterday';
  return new Date(at).toLocaleDateString(undefined, { dateStyle: 'medium' });
}

/** `$12.34`; four decimals below a dollar; `<$0.0001` for amounts that would be shown as zero. */
export function money(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.0001) return '<$0.0001';
  return usd < 1
    ? `$${usd.toFixed(4)}`
    : `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** `40 ms`, `3.2 s`, `4 min 5 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(size: number): string {
  if (size < 1024) return plural(size, 'byte');
  return size < 1_048_576 ? `${(size / 1024).toFixed(1)} KB` : `${(size / 1_048_576).toFixed(1)} MB`;
}

/** The first line of a text, truncated to `length`. */
export function firstLine(text: string, length = 80): string {
  const line = text.trimStart().split('\n', 1)[0] ?? '';
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
