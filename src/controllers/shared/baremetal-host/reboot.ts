import { changesTo } from '../remediation/actions.ts';
import type { Annotate, Marks } from '../remediation/actions.ts';
import { hostRef, leftAloneBecause, OFF_ON_PURPOSE } from './host.ts';
import type { HostFacts } from './host.ts';

/** Prefix of the reboot API; alone, it cycles the host; with a key, it holds the host off until the key's owner takes it away. */
const REBOOT = 'reboot.metal3.io';

/** An immediate power-off. The operator reads an empty value as soft, which waits for the operating system for minutes. */
export const HARD = '{"mode":"hard"}';

/** What `status.poweredOn` was when a hold was set, written in the same patch: an off is believed as a change since (P1). */
export const OFF_REQUESTED = 'ha.k8s.io/off-requested';

export interface RebootRequest {
  mode: 'hard' | 'soft';
  /** Works in every state of the host, not only in the provisioned ones. */
  isForced: boolean;
}

/** The value of a reboot annotation; `undefined`: what the operator's admission refuses. */
export function readReboot(value: string): RebootRequest | undefined {
  if (value === '') return { mode: 'soft', isForced: false };
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
    const { mode = '', force = false } = parsed as { mode?: unknown; force?: unknown };
    if (typeof force !== 'boolean' || (mode !== '' && mode !== 'soft' && mode !== 'hard')) return undefined;
    return { mode: mode === 'hard' ? 'hard' : 'soft', isForced: force };
  } catch {
    return undefined;
  }
}

/** All reboot annotations together: any hard one wins; what cannot be read counts as soft. `undefined`: none asks. */
export function rebootOf(annotations: Marks): RebootRequest | undefined {
  const keys = Object.keys(annotations).filter((key) => key === REBOOT || key.startsWith(`${REBOOT}/`));
  if (keys.length === 0) return undefined;
  const asked = keys.map((key) => readReboot(annotations[key] ?? '') ?? { mode: 'soft' as const, isForced: false });
  return { mode: asked.some(({ mode }) => mode === 'hard') ? 'hard' : 'soft', isForced: asked.some(({ isForced }) => isForced) };
}

/** Others who hold the host off: our power-on waits for them. */
export function otherHolders({ annotations }: HostFacts, own: string): string[] {
  return Object.keys(annotations).filter((key) => key.startsWith(`${REBOOT}/`) && key !== own);
}

/** Why a host that we hold no more need not come on: somebody else keeps it off, or told its operator to leave it alone. No time runs in which it is to come back. */
export function keptBecause(host: HostFacts, own: string): string | undefined {
  if (!host.isOnline) return OFF_ON_PURPOSE;
  const others = otherHolders(host, own);
  return leftAloneBecause(host) ?? (others.length === 0 ? undefined : `it stays off until ${others.join(', ')} goes`);
}

/** Sets the hold, with a record of what the host showed at that very moment; refused when it shows something else by then. */
export function holdOff(host: HostFacts, key: string, value: string): Annotate {
  const wanted = { [key]: value, [OFF_REQUESTED]: JSON.stringify({ by: key, wasOn: host.power?.isOn === true }) };
  return { kind: 'annotate', target: hostRef(host), changes: changesTo(host.annotations, wanted), resourceVersion: host.resourceVersion };
}

/** Takes away our hold and its record, nothing of others. */
export function letOn(host: HostFacts, key: string): Annotate {
  const ours = wasOn(host, key) === undefined ? {} : { [OFF_REQUESTED]: undefined };
  return { kind: 'annotate', target: hostRef(host), changes: changesTo(host.annotations, { [key]: undefined, ...ours }) };
}

/** Was the host on when this hold was set? `undefined`: nothing was recorded for it. */
export function wasOn({ annotations }: HostFacts, key: string): boolean | undefined {
  try {
    const parsed: unknown = JSON.parse(annotations[OFF_REQUESTED] ?? '');
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const record = parsed as { by?: unknown; wasOn?: unknown };
    return record.by === key && typeof record.wasOn === 'boolean' ? record.wasOn : undefined;
  } catch {
    return undefined;
  }
}
