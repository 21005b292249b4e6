import type { Call } from '../shared/call.ts';
import type { Session } from './session.ts';
import { isObject, linkPath, listAt, objectAt, textAt, type JsonObject } from './words.ts';

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

export interface ResetAction {
  /** As advertised; never built from the system's own path. */
  target: string;
  /** Types that the device says it takes; undefined where it says nothing. */
  allowed: readonly string[] | undefined;
  /** Where the list stands when it is not inline. */
  actionInfo: string | undefined;
}

function strings(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

/** The Reset action as the system advertises it. */
export function resetAction(system: JsonObject): ResetAction | undefined {
  const action = objectAt(objectAt(system, 'Actions'), '#ComputerSystem.Reset');
  const target = linkPath(action?.['target']);
  if (target === undefined) return undefined;
  const inline = strings(listAt(action, 'ResetType@Redfish.AllowableValues'));
  const actionInfo = linkPath(action?.['@Redfish.ActionInfo']);
  return { target, allowed: inline.length === 0 ? undefined : inline, actionInfo: inline.length === 0 ? actionInfo : undefined };
}

/** The list of a device that keeps it in an ActionInfo; undefined where that says nothing usable. */
export async function allowedByActionInfo(session: Session, call: Call, path: string): Promise<readonly string[] | undefined> {
  const response = await session.get(call, path);
  if (response.status !== 200 || !isObject(response.body)) return undefined;
  const parameter = listAt(response.body, 'Parameters').find((entry) => textAt(entry, 'Name') === 'ResetType');
  const values = strings(listAt(parameter, 'AllowableValues'));
  return values.length === 0 ? undefined : values;
}

/** Two or more known words run together, as Supermicro firmware 1.14 lists them; undefined when it is not that. */
function glued(word: string): string[] | undefined {
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
 * known word, is not trusted to leave one out. Graceful types and PushPowerButton never fence; a restart would start a machine that is off.
 */
export function resetType(allowed: readonly string[] | undefined, want: 'on' | 'off'): string | undefined {
  const wanted = want === 'off' ? ['ForceOff'] : ['On', 'ForceOn'];
  if (allowed === undefined) return wanted[0];
  const words = allowed.flatMap((word) => glued(word) ?? [word]);
  const isTrusted = !allowed.some((word) => glued(word) !== undefined) && words.some((word) => RESET_TYPES.includes(word));
  return wanted.find((type) => words.includes(type)) ?? (isTrusted ? undefined : wanted[0]);
}
