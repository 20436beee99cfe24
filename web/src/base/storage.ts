/** What this browser keeps for the page. A browser that refuses (full, private) makes the page forgetful, not broken. */

const prefix = 'agw.';

export function stored<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(prefix + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

let closed = false;

/** From now on: a page that is left goes on until the next is there. */
export const keepNothing = (): void => void (closed = true);

/** Keeps `value`; undefined forgets it. */
export function store(name: string, value: unknown): void {
  if (closed) return;
  try {
    if (value === undefined) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, JSON.stringify(value));
  } catch (error) {
    console.warn(`this browser does not keep ${name}:`, error);
  }
}

/** Keeps it for whoever shows it, in this tab too. */
export function pass(name: string, value: unknown): void {
  store(name, value);
  dispatchEvent(new StorageEvent('storage', { key: prefix + name }));
}

/** Tells what another tab of this browser keeps under the name from now on; undefined: nothing any more. */
export function onStored<T>(name: string, listener: (value: T | undefined) => void): () => void {
  const changed = ({ key }: StorageEvent): void => {
    if (key === prefix + name) listener(stored<T | undefined>(name, undefined));
  };
  addEventListener('storage', changed);
  return () => removeEventListener('storage', changed);
}

/** Forgets all that the page keeps, but for the theme. */
export function forgetAll(): void {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(prefix) && key !== `${prefix}theme`) localStorage.removeItem(key);
  }
}
