/** The current time for relative times, updated regularly and when the page becomes visible. */

const interval = 20_000;
/** The first use of `Intl` takes a browser 15 to 30 ms, so exact times wait until the first view is shown. */
const idleAfter = 1500;

class Clock {
  isIdle = $state(false);
  #ticks = $state(0);

  constructor() {
    const tick = (): void => {
      if (!document.hidden) this.#ticks++;
    };
    setInterval(tick, interval);
    document.addEventListener('visibilitychange', tick);
    setTimeout(() => (this.isIdle = true), idleAfter);
  }

  get now(): number {
    void this.#ticks;
    return Date.now();
  }
}

export const clock = new Clock();
