/** A diagram as a picture, drawn again when its text or the page's colours change. */
import { isDark, rootStyle } from '../styles/is_dark.svelte';
import { draw, type Picture } from './diagrams';

/** Milliseconds without a change before drawing: the text of a streaming answer is incomplete. */
const restTime = 300;

/** Must be constructed during the initialization of a component, because it creates effects. */
export class DiagramPicture {
  shown = $state.raw<(Picture & { url: string }) | null>(null);
  /** Why there is no picture. */
  problem = $state('');

  constructor(text: () => string) {
    $effect(() => this.#follow(text(), isDark(), rootStyle()));
    $effect(() => () => this.#show(null));
  }

  #follow(text: string, dark: boolean, style: string): () => void {
    let isWanted = true;
    const arrived = (made: Picture | null, problem: string): void => {
      if (!isWanted) return;
      this.problem = problem;
      this.#show(made);
    };
    const timer = setTimeout(
      () =>
        draw(text, dark, style).then(
          (made) => arrived(made, ''),
          (error: Error) => arrived(null, error.message),
        ),
      restTime,
    );
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }

  #show(made: Picture | null): void {
    if (this.shown) URL.revokeObjectURL(this.shown.url);
    this.shown = made && { ...made, url: URL.createObjectURL(new Blob([made.svg], { type: 'image/svg+xml' })) };
  }
}
