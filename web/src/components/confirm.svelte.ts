/** Asks for confirmation before irreversible actions, one at a time. */

export interface Confirmation {
  title: string;
  text: string;
  confirm: string;
  danger: boolean;
  /** The text that the person must type to confirm an irreversible action. */
  typed?: string | undefined;
  answer: (yes: boolean) => void;
}

class Confirmations {
  open = $state.raw<Confirmation | null>(null);

  ask(confirmation: Omit<Confirmation, 'answer'>): Promise<boolean> {
    return new Promise((resolve) => {
      const asked: Confirmation = {
        ...confirmation,
        // A dialog reports its closing again when it is removed; the next confirmation may be open by then.
        answer: (yes) => {
          if (this.open === asked) this.open = null;
          resolve(yes);
        },
      };
      this.open = asked;
    });
  }
}

export const confirmations = new Confirmations();

export const confirmDanger = (title: string, text: string, confirm: string, typed?: string): Promise<boolean> =>
  confirmations.ask({ title, text, confirm, danger: true, typed });
