/** One question at a time, asked before what cannot be taken back. */

export interface Question {
  title: string;
  text: string;
  confirm: string;
  danger: boolean;
  /** What has to be typed first, where nothing brings it back. */
  typed?: string | undefined;
  answer: (yes: boolean) => void;
}

class Questions {
  open = $state.raw<Question | null>(null);

  ask(question: Omit<Question, 'answer'>): Promise<boolean> {
    return new Promise((resolve) => {
      const asked: Question = {
        ...question,
        // A dialog says again that it closes, once it is gone: by then the next question may be open.
        answer: (yes) => {
          if (this.open === asked) this.open = null;
          resolve(yes);
        },
      };
      this.open = asked;
    });
  }
}

export const questions = new Questions();

export const confirmed = (title: string, text: string, confirm: string, typed?: string): Promise<boolean> =>
  questions.ask({ title, text, confirm, danger: true, typed });
