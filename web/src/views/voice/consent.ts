import { store, stored } from '../../base/storage';
import { confirmations } from '../../components/confirm.svelte';

/** Asks once for consent to send the microphone's sound to a service. `name`: the storage key of the consent. */
export async function mayBeHeard(name: string, title: string, text: string, confirm: string): Promise<boolean> {
  if (stored(name, false)) return true;
  if (!(await confirmations.ask({ title, text, confirm, danger: false }))) return false;
  store(name, true);
  return true;
}
