/** The terminals of this tab. They outlive a reload of the page for as long as the gateway keeps them. */
import { mount } from 'svelte';
import { session } from '../../state/session.svelte';
import { Shell, type Place } from './shell.svelte';
import TerminalPanel from './TerminalPanel.svelte';

const key = 'agw.terminals';

class Shells {
  all = $state<Shell[]>([]);
  current = $state<Shell | null>(null);
  isShown = $state(false);
  /** What comes back after a reload does not: somebody may be typing elsewhere. */
  takesFocus = true;

  #isMounted = false;

  show(shell: Shell, takesFocus = true): void {
    this.takesFocus = takesFocus;
    this.current = shell;
    this.isShown = true;
    if (this.#isMounted) return;
    this.#isMounted = true;
    const target = document.getElementById('page');
    if (target) mount(TerminalPanel, { target });
  }

  add(shell: Shell): Shell {
    this.all.push(shell);
    return shell;
  }

  /** Ends it, if it has not ended. */
  remove(shell: Shell): void {
    if (shell.ended === null) shell.end();
    this.all = this.all.filter((one) => one !== shell);
    this.current = this.all.at(-1) ?? null;
    this.isShown &&= this.all.length > 0;
    shell.dispose();
    this.keep();
  }

  /** For the next load of the page. */
  keep(): void {
    const open = this.all.filter(({ ended, id }) => ended === null && id).map(({ id, place }) => ({ id, place }));
    if (open.length) sessionStorage.setItem(key, JSON.stringify(open));
    else sessionStorage.removeItem(key);
  }
}

export const shells = new Shells();

/** Shows the terminal of that place, and opens it if necessary. */
export function openTerminal(place: Place): void {
  const same = ({ projectId, agentId }: Place): boolean =>
    place.projectId ? projectId === place.projectId : !projectId && agentId === place.agentId;
  const found = shells.all.find(({ place: other, ended }) => ended === null && same(other));
  const shell = found ?? shells.add(new Shell(place));
  shells.show(shell);
  shell.screen.focus();
}

/** After a load of the page. */
export function reopenTerminals(): void {
  const kept = sessionStorage.getItem(key);
  if (!kept || !session.token || shells.all.length) return;
  for (const { id, place } of JSON.parse(kept) as { id: string; place: Place }[])
    shells.show(shells.add(new Shell(place, id)), false);
}
