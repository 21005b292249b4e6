import type { Quirk } from './quirks.ts';
import type { Wish } from './resource-view.ts';

export const RESET_ACTION = '#ComputerSystem.Reset';

/** Resource.ResetType of DMTF, newest schema. What is not here is a vendor's own word. */
const RESET_TYPES = [
  'On',
  'ForceOff',
  'GracefulShutdown',
  'GracefulRestart',
  'ForceRestart',
  'Nmi',
  'ForceOn',
  'PushPowerButton',
  'PowerCycle',
  'Suspend',
  'Pause',
  'Resume',
  'FullPowerCycle',
];

/** Graceful types and PushPowerButton never fence; a restart would start a machine that is off. */
const WANTED: Readonly<Record<Wish, readonly string[]>> = { off: ['ForceOff'], on: ['On', 'ForceOn'], nmi: ['Nmi'] };

/** Two or more known words run together, as Supermicro firmware 1.14 lists them; undefined when it is not that. */
function glued(word: string): string[] | undefined {
  if (RESET_TYPES.includes(word)) return undefined;
  const parts: string[] = [];
  let rest = word;
  while (rest !== '') {
    // Longest first, so that ForceOn does not take the beginning of a longer word.
    const next = RESET_TYPES.filter((type) => rest.startsWith(type)).sort((left, right) => right.length - left.length)[0];
    if (next === undefined) return undefined;
    parts.push(next);
    rest = rest.slice(next.length);
  }
  return parts.length > 1 ? parts : undefined;
}

/**
 * The type to send, or undefined when the device says that it takes none that will do. A list with words run together, or without any
 * known word, is not trusted to leave one out.
 */
export function resetType(allowed: readonly string[] | undefined, wish: Wish, quirk?: Quirk): string | undefined {
  const wanted = WANTED[wish];
  if (allowed === undefined) return wanted[0];
  const words = allowed.flatMap((word) => glued(word) ?? [word]);
  const isTrusted = !allowed.some((word) => glued(word) !== undefined) && words.some((word) => RESET_TYPES.includes(word));
  const named = [...wanted, ...(quirk?.resetTypes?.[wish] ?? [])].find((type) => words.includes(type));
  return named ?? (isTrusted ? undefined : wanted[0]);
}
