import type { AppState } from '../../api/types';

/** The app's own loopback address, else null. Apps served through the gateway must not share this page's origin. */
export function addressOf({ url }: AppState): string | null {
  return url && /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/.test(url) ? url : null;
}
