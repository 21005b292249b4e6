import { createHash } from 'node:crypto';

import type { Outcome, PortState } from '../../src/ports/agents.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import type { ObjectCall } from '../shared/cluster/object-call.ts';
import type { AddressRange } from './address-range.ts';
import type { NetworkFenceSettings } from './parameters.ts';

/** Source: csi-addons/kubernetes-csi-addons, api/csiaddons/v1alpha1. */
export interface NetworkFence extends KubeObject {
  spec: {
    fenceState?: unknown;
    cidrs?: unknown;
    networkFenceClassName?: string;
    driver?: string;
    secret?: { name?: string; namespace?: string };
    parameters?: Record<string, string>;
  };
  status?: { result?: unknown; message?: unknown };
}

export const NETWORK_FENCES: Resource<NetworkFence> = {
  group: 'csiaddons.openshift.io',
  version: 'v1alpha1',
  kind: 'NetworkFence',
  plural: 'networkfences',
  namespaced: false,
};

/** The status keeps one result and no generation: only its message tells which of the two operations it is about (csi-addons 0.9 and newer). */
export const FENCED = 'fencing operation successful';
export const UNFENCED = 'unfencing operation successful';

type Wish = NetworkFenceSettings & { ranges: readonly AddressRange[] };

/** One object for each node and way to a storage; never deleted, since some versions unfence at that. */
export function fenceNameOf(node: string, wish: Wish): string {
  const what = JSON.stringify([cidrsOf(wish), wish.driver, wish.className, wish.clusterID]);
  return `nodefence-${node.slice(0, 200)}-${createHash('sha256').update(what).digest('hex').slice(0, 10)}`;
}

function cidrsOf({ ranges }: Wish): string[] {
  return ranges.map(({ cidr }) => cidr).sort();
}

function specOf(wish: Wish): NetworkFence['spec'] {
  const { className, driver, clusterID, secret } = wish;
  return {
    fenceState: 'Fenced',
    cidrs: cidrsOf(wish),
    ...(className === undefined ? {} : { networkFenceClassName: className }),
    ...(driver === undefined ? {} : { driver }),
    ...(secret === undefined ? {} : { secret }),
    ...(clusterID === undefined ? {} : { parameters: { clusterID } }),
  };
}

const NONE = '(none)';

/** What stands in a field that may hold anything. */
function wordOf(value: unknown, otherwise = NONE): string {
  if (value === undefined || value === null || value === '') return otherwise;
  return typeof value === 'string' ? value : `no text: ${JSON.stringify(value)}`;
}

/** Closed only where the object asks for this node's addresses to be fenced and its last result is of a fencing. */
export function portOf(fence: NetworkFence | undefined, wish: Wish): { state: PortState; detail: string } {
  if (fence === undefined) return { state: 'open', detail: 'no NetworkFence of ours' };
  const { name, deletionTimestamp } = fence.metadata;
  const fenceState = wordOf(fence.spec.fenceState);
  const result = wordOf(fence.status?.result);
  const message = wordOf(fence.status?.message, '');
  const cidrs = Array.isArray(fence.spec.cidrs) ? fence.spec.cidrs.map(String) : [];
  const told = `NetworkFence ${name}: fenceState=${fenceState.slice(0, 40)}, result=${result.slice(0, 40)}${message === '' ? '' : `, ${message.slice(0, 200)}`}`;
  const say = (state: PortState, why?: string): { state: PortState; detail: string } => ({
    state,
    detail: why === undefined ? told : `${told}, ${why}`,
  });
  if (deletionTimestamp !== undefined) return say('unknown', 'it is being deleted');
  if (JSON.stringify([...cidrs].sort()) !== JSON.stringify(cidrsOf(wish))) return say('unknown', `its cidrs are ${cidrs.join(' ').slice(0, 200)}`);
  const done = fenceState === 'Fenced' ? FENCED : fenceState === 'Unfenced' ? UNFENCED : undefined;
  if (done === undefined) return say('unknown');
  if (result === 'Succeeded' && message === done) return say(fenceState === 'Fenced' ? 'closed' : 'open');
  if (result === 'Succeeded' && message !== FENCED && message !== UNFENCED) return say('unknown', 'a result of which operation is not told');
  return ['Succeeded', 'Failed', NONE].includes(result) ? say('pending') : say('unknown');
}

/** A fencing is asked for only once the unfencing before it is over: else an old result could be taken for the new one. */
export async function closePort(call: ObjectCall, wish: Wish): Promise<Outcome> {
  const name = fenceNameOf(call.target.identity.node, wish);
  const known = await call.get(NETWORK_FENCES, name);
  if (known === undefined) {
    await call.create(NETWORK_FENCES, { metadata: { name }, spec: specOf(wish) });
    return { result: 'accepted', detail: `NetworkFence ${name} created` };
  }
  await call.edit(NETWORK_FENCES, known, (fence) => {
    if (fence.spec.fenceState === 'Fenced') return undefined;
    const { result, message } = fence.status ?? {};
    if (result !== 'Succeeded' || message !== UNFENCED) throw call.error('NotSent', `${portOf(fence, wish).detail}: its unfencing is not over yet`);
    return { spec: specOf(wish) };
  });
  return { result: 'accepted', detail: `NetworkFence ${name}: fenceState=Fenced` };
}

export async function openPort(call: ObjectCall, wish: Wish): Promise<Outcome> {
  const name = fenceNameOf(call.target.identity.node, wish);
  const known = await call.get(NETWORK_FENCES, name);
  if (known === undefined) return { result: 'accepted', detail: 'there is no NetworkFence of ours' };
  await call.edit(NETWORK_FENCES, known, (fence) => (fence.spec.fenceState === 'Unfenced' ? undefined : { spec: { fenceState: 'Unfenced' } }));
  return { result: 'accepted', detail: `NetworkFence ${name}: fenceState=Unfenced` };
}
