import type { BareMetalHost } from '../ports/metal3.ts';
import type { ApiAction, History } from './history.ts';
import type { ObjectState } from './object-states.ts';
import type { Timeline } from './timeline.ts';

const HOSTS = 'baremetalhosts.metal3.io';
/** Label of a BareMetalHost: the node that runs on it. */
export const HOST_NODE_LABEL = 'drill.nodefence/node';
const HOLD = 'reboot.metal3.io/';
/** Of what a write rests on: a read, and the calls between the two on a slow API server. */
const READ_MAX_AGE_MS = 4_000;

/** An off that a BareMetalOperator carried out for us, with what must be so for a release to rest on it. */
export interface HostOff {
  checks: readonly [boolean, string][];
  /** Position of the status that told it; of the release where none did. */
  toldPosition: number;
}

/**
 * No device of ours: the operator of the node's BareMetalHost was asked by an annotation, switched it off, and said so. Undefined: it never switched this node
 * off, or a NodeFence has switched it since.
 */
export function hostOffBehind(history: History, release: ApiAction): HostOff | undefined {
  const isHere = ({ position, event }: History['foreignSets'][number]): boolean => event.node === release.node && position < release.position;
  const off = history.foreignSets.findLast((set) => isHere(set) && set.event.want === 'off');
  if (off === undefined) return undefined;
  const isFenced = history.sets.some(({ position, event }) => event.node === release.node && position > off.position && position < release.position);
  if (isFenced) return undefined;
  const states = statesOf(history, release.node);
  const last = lastSeen(history, states, release);
  const ours = ownHold(history, states, release.position);
  const stands = ours !== undefined && holdsOf(last).includes(ours.key);
  // Whoever had it switched off: what the operator says from our annotation on is that it stays so.
  const from = Math.max(off.position, ours?.sincePosition ?? 0);
  const told = states?.entries.find(
    ({ position, value }) => position > from && position < release.position && !history.isOurs(value.event) && poweredOn(value) === false,
  );
  const toldPosition = told?.position ?? release.position;
  const rose = history.powerEdges(release.node, toldPosition, release.position).some(({ state }) => state === 'on');
  return {
    toldPosition,
    checks: [
      [ours !== undefined, `the host of ${release.node} was switched off, and none of our annotations had asked for that`],
      [stands, `our annotation no longer held the host of ${release.node} off`],
      [told !== undefined, 'its BareMetalHost had not been said to be off since'],
      [poweredOn(last) === false, 'its BareMetalHost was not said to be off any more'],
      [!history.isPoweredOn(release.node, toldPosition) && !rose, `${release.node} was not powered off from then on`],
      [isRead(history, toldPosition, release), 'its BareMetalHost was not read after that'],
    ],
  };
}

/** Our hold went from the host of a node: its operator may switch it on from there. */
export function letOns(history: History): readonly { node: string; position: number; at: number }[] {
  return [...history.objects.every(HOSTS)].flatMap(([, { entries }]) =>
    entries.flatMap(({ position, at, value }, index) => {
      const node = hostIn(value)?.metadata.labels?.[HOST_NODE_LABEL];
      const isLetGo = holdsOf(entries[index - 1]?.value).some((key) => !holdsOf(value).includes(key));
      return node !== undefined && isLetGo && history.isOurs(value.event) ? [{ node, position, at }] : [];
    }),
  );
}

/** The last annotation of ours that the host has had, and from where on it had it. */
function ownHold(history: History, states: Timeline<ObjectState> | undefined, to: number): { key: string; sincePosition: number } | undefined {
  const entries = (states?.entries ?? []).filter(({ position }) => position < to);
  const wrote = entries.findLast(({ value }, index) => {
    const before = holdsOf(entries[index - 1]?.value);
    return history.isOurs(value.event) && holdsOf(value).some((key) => !before.includes(key));
  });
  const key = holdsOf(wrote?.value).at(-1);
  return wrote === undefined || key === undefined ? undefined : { key, sincePosition: wrote.position };
}

/** As the host stood; where somebody else has deleted it since we read it a moment ago, as it was before: nobody could have seen that. */
function lastSeen(history: History, states: Timeline<ObjectState> | undefined, release: ApiAction): ObjectState | undefined {
  const last = states?.entryBefore(release.position);
  if (last === undefined || last.value.object !== undefined || history.isOurs(last.value.event)) return last?.value;
  const read = history.controllerCalls.findLast(
    ({ position, event }) => position < last.position && event.verb === 'get' && event.resource === HOSTS && event.name === last.value.event.name,
  );
  return read !== undefined && release.at - read.event.at <= READ_MAX_AGE_MS ? states?.before(last.position) : last.value;
}

function isRead(history: History, from: number, release: ApiAction): boolean {
  return history.controllerCalls.some(
    ({ position, event }) => position > from && position < release.position && event.verb === 'get' && event.resource === HOSTS,
  );
}

function statesOf(history: History, node: string): Timeline<ObjectState> | undefined {
  for (const [, timeline] of history.objects.every(HOSTS))
    if (timeline.entries.some(({ value }) => hostIn(value)?.metadata.labels?.[HOST_NODE_LABEL] === node)) return timeline;
  return undefined;
}

function hostIn(state: ObjectState | undefined): BareMetalHost | undefined {
  return state?.object;
}

function holdsOf(state: ObjectState | undefined): string[] {
  return Object.keys(hostIn(state)?.metadata.annotations ?? {}).filter((key) => key.startsWith(HOLD));
}

function poweredOn(state: ObjectState | undefined): boolean | undefined {
  return hostIn(state)?.status?.poweredOn;
}
