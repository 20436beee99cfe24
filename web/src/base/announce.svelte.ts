/** The page's live region for screen readers. */
class Announcer {
  message = $state('');

  say(message: string): void {
    this.message = message;
  }
}

export const announcer = new Announcer();
