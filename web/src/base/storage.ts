/** What the page stores in this browser. If the browser refuses to store data (full, private), the page still works. */

const prefix = 'agw.';

/** `sessionStorage` is that of this tab. Their names, because a browser may refuse any access to them. */
type Area = 'localStorage' | 'sessionStorage';

export function stored<T>(name: string, fallback: T, area: Area = 'localStorage'): T {
  try {
    const text = window[area].getItem(prefix + name);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

let disabled = false;

/** Stops all writes: the scripts of a page keep running until the next page has loaded. */
export const disableStorage = (): void => void (disabled = true);

let warn = (): void => {};

/** `tell` is called once, when the browser has no room for a value. */
export const onFull = (tell: () => void): void => void (warn = tell);

/** Stores `value`; undefined removes it. */
export function store(name: string, value: unknown, area: Area = 'localStorage'): void {
  if (disabled) return;
  try {
    if (value === undefined) window[area].removeItem(prefix + name);
    else window[area].setItem(prefix + name, JSON.stringify(value));
  } catch (error) {
    console.warn(`this browser cannot store ${name}:`, error);
    if ((error as Error).name !== 'QuotaExceededError') return;
    warn();
    warn = () => {};
  }
}

/** Stores `value` and notifies listeners in this tab too. */
export function storeAndNotify(name: string, value: unknown): void {
  store(name, value);
  dispatchEvent(new StorageEvent('storage', { key: prefix + name }));
}

/**
 * Calls `listener` when another tab or `storeAndNotify` changes the value, with undefined if it was removed, and with
 * the value before, if another tab did it. Returns a function that removes the listener.
 */
export function onStorageChange<T>(name: string, listener: (value?: T, before?: T) => void): () => void {
  const onStorage = ({ key, oldValue }: StorageEvent): void => {
    if (key === prefix + name)
      listener(stored<T | undefined>(name, undefined), JSON.parse(oldValue ?? 'null') ?? undefined);
  };
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}

/** Removes everything except the theme, the appearance of text and the language. */
export function clearStorage(): void {
  try {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(prefix) && !/(theme|looks|language)$/.test(key)) localStorage.removeItem(key);
  } catch (error) {
    console.warn('this browser stores nothing:', error);
  }
}
