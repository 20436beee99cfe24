/** The terminals of this tab. They survive a reload of the page as long as the gateway keeps them. */
import { mount } from 'svelte';
import { store, stored } from '../../base/storage';
import { session } from '../../state/session.svelte';
import { Shell, type Place } from './shell.svelte';
import TerminalPanel from './TerminalPanel.svelte';

const key = 'terminals';

class Shells {
  all = $state<Shell[]>([]);
  current = $state<Shell | null>(null);
  isShown = $state(false);
  /** Whether a shown terminal takes the focus. False after a reload: the person may already be typing elsewhere. */
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

  /** Removes a terminal, and ends its shell if necessary. */
  remove(shell: Shell): void {
    if (shell.ended === null) shell.end();
    this.all = this.all.filter((one) => one !== shell);
    this.current = this.all.at(-1) ?? null;
    this.isShown &&= this.all.length > 0;
    shell.dispose();
    this.keep();
  }

  /** Stores the open terminals for the next load of the page. */
  keep(): void {
    const open = this.all.filter(({ ended, id }) => ended === null && id).map(({ id, place }) => ({ id, place }));
    store(key, open.length ? open : undefined, 'sessionStorage');
  }
}

export const shells = new Shells();

/** Shows the terminal of a place. Opens one if there is none. */
export function openTerminal(place: Place): void {
  const same = ({ projectId, agentId }: Place): boolean =>
    place.projectId ? projectId === place.projectId : !projectId && agentId === place.agentId;
  const found = shells.all.find(({ place: other, ended }) => ended === null && same(other));
  const shell = found ?? shells.add(new Shell(place));
  shells.show(shell);
  shell.screen.focus();
}

/** Reopens the stored terminals. To be called once after the page is loaded. */
export function reopenTerminals(): void {
  if (!session.token || shells.all.length) return;
  for (const { id, place } of stored<{ id: string; place: Place }[]>(key, [], 'sessionStorage'))
    shells.show(shells.add(new Shell(place, id)), false);
}
