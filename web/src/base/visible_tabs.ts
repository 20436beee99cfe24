/**
 * Which tabs of this browser are visible: each visible tab holds a lock. Browsers provide locks only in secure contexts, as
 * they do notifications.
 */
const name = 'agw.visible';

const untilHidden = (): Promise<void> =>
  new Promise((hidden) => {
    if (document.hidden) hidden();
    else document.addEventListener('visibilitychange', () => hidden(), { once: true });
  });

/** For effects: tells the other tabs while this one is visible. */
export function showVisibility(): () => void {
  const hold = (): void => {
    if (!document.hidden) void navigator.locks?.request(name, { mode: 'shared' }, untilHidden);
  };
  hold();
  document.addEventListener('visibilitychange', hold);
  return () => document.removeEventListener('visibilitychange', hold);
}

/** Whether this or another tab is visible. */
export async function isAnyVisible(): Promise<boolean> {
  if (!document.hidden) return true;
  const { held } = await navigator.locks.query();
  return !!held?.some((lock) => lock.name === name);
}
