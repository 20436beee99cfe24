import { store, stored } from '../../base/storage';
import { confirmations } from '../../components/confirm.svelte';

/** Asks once before what the microphone hears goes to a service. `name`: what the answer is kept under. */
export async function mayBeHeard(name: string, title: string, text: string, confirm: string): Promise<boolean> {
  if (stored(name, false)) return true;
  if (!(await confirmations.ask({ title, text, confirm, danger: false }))) return false;
  store(name, true);
  return true;
}
