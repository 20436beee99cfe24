/** The overlay above the views, at most one. */
class Overlays {
  open = $state<'palette' | 'keys' | null>(null);
}

export const overlays = new Overlays();
