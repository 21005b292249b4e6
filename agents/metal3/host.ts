import type { PowerState, Reading } from '../../src/ports/agents.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import { BARE_METAL_HOSTS as SERVED_HOSTS } from '../../src/ports/metal3.ts';
import type { BareMetalHost as ServedHost } from '../../src/ports/metal3.ts';

type ServedStatus = NonNullable<ServedHost['status']>;

/** What decides about a machine. Source: metal3-io/baremetal-operator, apis/metal3.io/v1alpha1. Where power is read from, anything may stand. */
export interface BareMetalHost extends Omit<ServedHost, 'status'> {
  status?: Omit<ServedStatus, 'poweredOn' | 'provisioning'> & { poweredOn?: unknown; lastUpdated?: string; provisioning?: { state?: unknown } };
}

export const BARE_METAL_HOSTS: Resource<BareMetalHost> = SERVED_HOSTS;

const REBOOT = 'reboot.metal3.io';
/** Holds the host off until it is taken away; those of others hold it too. */
export const HOLD = `${REBOOT}/nodefence`;
export const HARD = '{"mode":"hard"}';
/** What the host showed when our hold was set: an off is believed only as a change since. */
export const RECORD = 'nodefence.ha.k8s.io/power-off-requested';

const MANAGED: ReadonlySet<string> = new Set(['provisioned', 'externally provisioned']);
const PAUSED = 'baremetalhost.metal3.io/paused';
const DETACHED = 'baremetalhost.metal3.io/detached';

export function isHeld(host: BareMetalHost): boolean {
  return host.metadata.annotations?.[HOLD] === HARD;
}

/** Everybody who holds the host off. */
export function holders(host: BareMetalHost): string[] {
  return Object.keys(host.metadata.annotations ?? {}).filter((key) => key.startsWith(`${REBOOT}/`));
}

/** Why what this object says of the power cannot be relied on, or a request not be acted on; undefined when the operator minds the host. */
export function unmanaged({ metadata, status, spec }: BareMetalHost): string | undefined {
  for (const mark of [PAUSED, DETACHED])
    if (metadata.annotations?.[mark] !== undefined) return `annotation ${mark}: the operator leaves the host alone`;
  if (metadata.deletionTimestamp !== undefined) return 'the BareMetalHost is being deleted';
  const told = status?.provisioning?.state;
  const state = typeof told === 'string' ? told : '';
  if (!MANAGED.has(state)) return `provisioning.state=${state === '' ? '(none)' : state.slice(0, 60)}: power is managed only when provisioned`;
  if (spec?.disablePowerOff === true) return 'spec.disablePowerOff=true: the operator never switches this host off';
  return undefined;
}

function trouble({ status }: BareMetalHost): string | undefined {
  const { operationalStatus = '', errorType = '', errorMessage = '' } = status ?? {};
  if (operationalStatus === 'OK' && errorType === '') return undefined;
  const words = [
    `operationalStatus=${operationalStatus}`,
    ...(errorType === '' ? [] : [`errorType=${errorType}`]),
    ...(errorMessage === '' ? [] : [errorMessage]),
  ];
  return words.join(', ').slice(0, 300);
}

/**
 * The power as the operator tells it. Its field keeps the last value when the operator cannot read the BMC, so `off` is believed only while the operator
 * minds the host without trouble and somebody holds it off, for it switches on what nobody does; and, once our hold stands, only as a change from on that came
 * after it, in this very incident.
 */
export function powerOf(host: BareMetalHost, incident: string | undefined): Pick<Reading<PowerState>, 'state' | 'detail' | 'deviceTime'> {
  const poweredOn = host.status?.poweredOn;
  const others = holders(host).filter((key) => key !== HOLD);
  const told = [
    `poweredOn=${poweredOn === undefined || poweredOn === null ? '(none)' : JSON.stringify(poweredOn)}`.slice(0, 60),
    ...(isHeld(host) ? [`held off by ${HOLD}`] : []),
    ...(others.length === 0 ? [] : [`held off by ${others.join(', ').slice(0, 200)}`]),
    ...(host.spec?.online === false ? ['spec.online=false'] : []),
  ].join(', ');
  const updated = host.status?.lastUpdated;
  const say = (state: PowerState, why?: string): ReturnType<typeof powerOf> => ({
    state,
    detail: why === undefined ? told : `${told}, ${why}`,
    ...(updated === undefined ? {} : { deviceTime: updated }),
  });
  const doubt = unmanaged(host) ?? trouble(host);
  if (typeof poweredOn !== 'boolean') return say('unknown', doubt);
  if (doubt !== undefined) return say('unknown', doubt);
  if (poweredOn) return say(isHeld(host) ? 'pending' : 'on');
  if (!isHeld(host)) {
    const isWantedOn = others.length === 0 && host.spec?.online !== false;
    return isWantedOn ? say('pending', 'nobody holds it off: the operator switches it on, or has done so since it looked last') : say('off');
  }
  const record = recordOf(host);
  if (record === undefined)
    return say('unknown', `annotation ${RECORD} is missing or garbled: it is unknown whether this off came after our request`);
  if (incident !== undefined && record.incident !== incident)
    return say(
      'unknown',
      `held off since an earlier incident: whether it was switched on meanwhile is unknown: read the BMC itself, or check the machine`,
    );
  if (!record.wasOn)
    return say(
      'unknown',
      `it was so before our request, and the operator has not reported it again: acknowledge the fence, or use an agent that reads the BMC itself`,
    );
  return say('off');
}

export interface HoldRecord {
  node: string;
  /** The fence and incident that asked; empty: none did. */
  incident: string;
  /** `status.poweredOn` was true when the hold was set. */
  wasOn: boolean;
}

export function recordOf(host: BareMetalHost): HoldRecord | undefined {
  const text = host.metadata.annotations?.[RECORD] ?? '';
  const [, node, incident = '', was] = /^\{"node":"([^"\\]{1,253})","incident":"([^"\\]{0,80})","wasOn":(true|false)\}$/.exec(text) ?? [];
  return node === undefined ? undefined : { node, incident, wasOn: was === 'true' };
}

export function recordText({ node, incident, wasOn }: HoldRecord): string {
  return `{"node":"${node}","incident":"${incident}","wasOn":${String(wasOn)}}`;
}
