/** What lies above the views: at most one at a time. */
class Overlays {
  open = $state<'palette' | 'keys' | null>(null);
}

export const overlays = new Overlays();
