import type { PowerState } from '../../src/ports/agents.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { listAt, member, textAt } from '../shared/web/web-client.ts';

/** Status of a server (Hetzner Cloud API, "Servers"). Whatever else is said is unknown. */
const STATES: Readonly<Record<string, PowerState>> = {
  running: 'on',
  initializing: 'pending',
  starting: 'pending',
  stopping: 'pending',
  off: 'off',
  deleting: 'pending',
  rebuilding: 'pending',
  // It may run in two places.
  migrating: 'pending',
  unknown: 'unknown',
};

export interface HetznerServer {
  /** Never given again. */
  id: string;
  name: string | undefined;
  state: PowerState;
  /** An action is under way at it. */
  isLocked: boolean;
  detail: string;
  addresses: readonly string[];
}

/** Undefined where it is no server. */
export function serverIn(shown: unknown): HetznerServer | undefined {
  const id = member(shown, 'id');
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return undefined;
  const status = textAt(shown, 'status') ?? '';
  const locked = member(shown, 'locked');
  const known = Object.hasOwn(STATES, status) ? (STATES[status] ?? 'unknown') : 'unknown';
  const words = `status=${status === '' ? '(none)' : status} locked=${typeof locked === 'boolean' ? String(locked) : '(none)'}`;
  return {
    id: String(id),
    name: textAt(shown, 'name'),
    state: known === 'off' ? offOf(locked) : known,
    isLocked: locked === true,
    detail: deviceMessage(words, []),
    addresses: addressesIn(shown),
  };
}

/** Off only where no action is under way, which may start it. */
function offOf(locked: unknown): PowerState {
  if (typeof locked !== 'boolean') return 'unknown';
  return locked ? 'pending' : 'off';
}

function addressesIn(shown: unknown): readonly string[] {
  const own = listAt(shown, 'private_net').flatMap((network) => textAt(network, 'ip') ?? []);
  const open = textAt(shown, 'public_net', 'ipv4', 'ip');
  return open === undefined ? own : [...own, open];
}

/** `{error: {code, message}}`. */
export function failureIn(body: unknown): { code: string; words: string } | undefined {
  const code = textAt(body, 'error', 'code');
  return code === undefined ? undefined : { code, words: deviceMessage(`${code}: ${textAt(body, 'error', 'message') ?? ''}`, []) };
}

/** An action as the API shows it: its number, and how it failed. */
export function actionIn(body: unknown): { id: string; failed?: string } | undefined {
  const id = member(body, 'action', 'id');
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return undefined;
  const action = member(body, 'action');
  const isFailed = textAt(action, 'status') === 'error';
  return { id: String(id), ...(isFailed ? { failed: failureIn(action)?.words ?? 'no reason given' } : {}) };
}
