/** The overlay above the views. At most one is open. */
class Overlays {
  open = $state<'palette' | 'keys' | null>(null);
}

export const overlays = new Overlays();
