import type { PowerState } from '../../src/ports/agents.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { listAt, member, textAt, type WebAnswer } from '../shared/web/web-client.ts';

/** PowerState of an instance view (Microsoft Learn, "States and billing status of Azure Virtual Machines"). */
const STATES: Readonly<Record<string, PowerState>> = {
  running: 'on',
  starting: 'pending',
  stopping: 'pending',
  deallocating: 'pending',
  stopped: 'off',
  deallocated: 'off',
};
/** Nothing is under way in these. */
const SETTLED = new Set(['succeeded', 'failed', 'canceled']);

export interface AzureMachine {
  id: string;
  name: string | undefined;
  vmId: string | undefined;
  state: PowerState;
  detail: string;
}

/** Undefined where it is no machine with its instance view. */
export function machineIn(body: unknown): AzureMachine | undefined {
  const id = textAt(body, 'id');
  if (id === undefined || member(body, 'properties') === undefined) return undefined;
  const codes = listAt(body, 'properties', 'instanceView', 'statuses').flatMap((status) => textAt(status, 'code') ?? []);
  const powers = codes.filter((code) => /^PowerState\//i.test(code));
  const hibernation = codes.find((code) => /^HibernationState\//i.test(code));
  const provisioning = textAt(body, 'properties', 'provisioningState');
  const said = powers.length === 1 ? (powers[0] ?? '').slice('PowerState/'.length).toLowerCase() : '';
  const shown = Object.hasOwn(STATES, said) ? (STATES[said] ?? 'unknown') : 'unknown';
  const remarks = [powers.join(', ') || 'no PowerState', `provisioningState=${provisioning ?? '(none)'}`];
  if (hibernation !== undefined) remarks.push(`${hibernation}: resumed, it would write on`);
  return {
    id,
    name: textAt(body, 'name'),
    vmId: textAt(body, 'properties', 'vmId'),
    state: shown === 'off' ? offOf(hibernation, provisioning) : shown,
    detail: deviceMessage(remarks.join('; '), []),
  };
}

/** Off only where nothing of its memory is kept, and no operation is under way that may start it. */
function offOf(hibernation: string | undefined, provisioning: string | undefined): PowerState {
  if (hibernation !== undefined || provisioning === undefined) return 'unknown';
  return SETTLED.has(provisioning.toLowerCase()) ? 'off' : 'pending';
}

/** `{error: {code, message}}`, as ARM words a failure. */
export function failureIn(body: unknown): { code: string; words: string } | undefined {
  const code = textAt(body, 'error', 'code');
  return code === undefined ? undefined : { code, words: deviceMessage(`${code}: ${textAt(body, 'error', 'message') ?? ''}`, []) };
}

/** How an operation that was accepted ended; undefined while it runs, or where nobody can tell. */
export function endIn({ status, body }: WebAnswer): 'done' | { failed: string } | undefined {
  const failure = failureIn(body);
  const said = textAt(body, 'status')?.toLowerCase();
  if (said === 'failed' || said === 'canceled') return { failed: failure?.words ?? said };
  if (said === 'succeeded' || (said === undefined && (status === 200 || status === 204))) return 'done';
  return undefined;
}
