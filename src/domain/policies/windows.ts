import { lastMatch, nextMatch } from './cron.ts';
import type { Cron } from './cron.ts';
import type { StormPolicy } from './policy.ts';
import { forAll, stormPolicy } from './scope.ts';
import type { CommonSettings, Ruling } from './scope.ts';
import type { StormView } from './view.ts';

/** Opens whenever `cron` matches, for `durationMs`. */
export interface Window {
  cron: Cron;
  durationMs: number;
  /** As written. */
  text: string;
}

/** Milliseconds by which the clock on the wall is ahead of UTC at that time. */
export type UtcOffset = (wallMs: number) => number;

export interface WindowsSettings extends CommonSettings {
  /** Fencing only in these; empty: always. */
  allow: readonly Window[];
  /** Never in these, allowed or not. */
  deny: readonly Window[];
  offsetMs: UtcOffset;
  /** They could not be read: then everybody is held, in the words given; when fencing was forbidden nobody knows. */
  unreadable?: string;
}

export const UTC: UtcOffset = () => 0;

/** The window that is open and closes last, and how long it stays so. */
export function openWindow(windows: readonly Window[], view: StormView, offsetMs: UtcOffset): { window: Window; leftMs: number } | undefined {
  const { wallMs } = view;
  const nowMs = offsetMs(wallMs);
  let open: { window: Window; leftMs: number } | undefined;
  for (const window of windows) {
    const beforeMs = offsetMs(wallMs - window.durationMs);
    const begunMs = begunAt(window, wallMs + nowMs);
    const ends = begunMs === undefined ? [] : [endOf(begunMs + window.durationMs, wallMs, offsetMs)];
    // Clocks that were set back since then show a time from before it opened.
    const earlierMs = beforeMs > nowMs ? begunAt(window, wallMs + beforeMs) : undefined;
    if (earlierMs !== undefined && offsetMs(earlierMs - beforeMs) === beforeMs) ends.push(earlierMs + window.durationMs - beforeMs);
    const leftMs = Math.max(...ends) - wallMs;
    if (leftMs > (open?.leftMs ?? 0)) open = { window, leftMs };
  }
  return open;
}

/** Since when it is open; all by a clock on the wall. `undefined`: it is closed. */
function begunAt({ cron, durationMs }: Window, localMs: number): number | undefined {
  const begunMs = lastMatch(cron, localMs, durationMs);
  return begunMs === undefined || localMs >= begunMs + durationMs ? undefined : begunMs;
}

/** When it ends that is open now: a time that clocks show twice may be over by its first time, and it is open for as long as they say so. */
function endOf(endLocalMs: number, wallMs: number, offsetMs: UtcOffset): number {
  const endMs = instantOf(endLocalMs, offsetMs);
  return endMs > wallMs ? endMs : endLocalMs - offsetMs(wallMs);
}

/** Hours in which fencing is allowed, or forbidden, by the clock on the wall. */
export function windows(settings: WindowsSettings): StormPolicy {
  return stormPolicy('windows', settings, (view) =>
    forAll(settings.unreadable === undefined ? hold(settings, view) : unreadable(settings.unreadable)),
  );
}

function unreadable(why: string): ReturnType<Ruling> {
  return { reason: 'windows-unreadable', message: `${why}: when fencing is forbidden is not known; ends when the policy is mended` };
}

/** When clocks on the wall show this time; where they are set anew before that, by what they show then. */
function instantOf(localMs: number, offsetMs: UtcOffset): number {
  return localMs - offsetMs(localMs - offsetMs(localMs));
}

function hold({ allow, deny, offsetMs }: WindowsSettings, view: StormView): ReturnType<Ruling> {
  const denied = openWindow(deny, view, offsetMs);
  if (denied !== undefined) {
    const message = `window deny=${denied.window.text} is open`;
    return { reason: 'denied-window', message, untilMs: view.nowMs + denied.leftMs };
  }
  if (allow.length === 0 || openWindow(allow, view, offsetMs) !== undefined) return undefined;
  const localMs = view.wallMs + offsetMs(view.wallMs);
  const next = allow.flatMap((window) => nextMatch(window.cron, localMs) ?? []);
  const waitMs = next.length === 0 ? undefined : instantOf(Math.min(...next), offsetMs) - view.wallMs;
  const closed = `no window allow=${allow.map(({ text }) => text).join('; ')} is open`;
  if (waitMs === undefined) return { reason: 'outside-window', message: `${closed}, and none ever opens: ends when the policy is mended` };
  return { reason: 'outside-window', message: closed, untilMs: view.nowMs + waitMs };
}
