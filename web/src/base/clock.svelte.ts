/** The time, for what is told in words of it: told anew now and then, and when the page is looked at again. */

const every = 20_000;
/** The first use of `Intl` costs a browser 15 to 30 ms: exact times wait until what is read first is there. */
const calmAfter = 1500;

class Clock {
  calm = $state(false);
  #told = $state(0);

  constructor() {
    const tell = (): void => {
      if (!document.hidden) this.#told++;
    };
    setInterval(tell, every);
    document.addEventListener('visibilitychange', tell);
    setTimeout(() => (this.calm = true), calmAfter);
  }

  get now(): number {
    void this.#told;
    return Date.now();
  }
}

export const clock = new Clock();
