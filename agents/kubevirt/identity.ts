import { createHash } from 'node:crypto';

import type { Identity } from '../../src/ports/agents.ts';
import type { ObjectCall } from '../shared/cluster/object-call.ts';
import { areSameUUID, normalUUID } from '../shared/machine-uuid.ts';
import type { LauncherPod, VirtualMachine, VirtualMachineInstance } from './objects.ts';
import { providedName } from './parameters.ts';

/** Of the UUIDs that KubeVirt makes of names. Source: kubevirt/kubevirt, pkg/virt-controller/watch/vm, CalculateLegacyUUID. */
const NAMES = '6a1a24a1406146078bf4a3963d0c5895';
/** Every guest behind masquerade has these (kubevirt/kubevirt, api/core/v1, DefaultVMCIDR and DefaultVMIpv6CIDR). */
const OF_EVERYBODY: ReadonlySet<string> = new Set(['10.0.2.2', 'fd10:0:2::2']);
/** More machines than one cluster has nodes. */
const KNOWN_MAX = 10_000;

/** What was read of a machine that shows whose it is. */
export interface Shown {
  vm: VirtualMachine | undefined;
  instance: VirtualMachineInstance | undefined;
  pods: readonly LauncherPod[];
}

/**
 * Whose machine a name leads to. Older KubeVirts (1.3 does) make the UUID of a firmware of the name alone, and newer ones keep such a one: machines of one name in two namespaces
 * share it, as does one that was made anew. There an address has to be the node's, too. A machine that is off shows no address, and of an older KubeVirt no UUID
 * either: it is known by the uid of its object.
 */
export class Identities {
  readonly #known = new Set<string>();

  /** Rejects `Misconfigured` where it is another machine. */
  of(call: ObjectCall, name: string, machine: Shown): 'verified' | 'unverified' {
    const { identity, device } = call.target;
    const provided = providedName(identity.providerID);
    if (provided !== undefined && provided !== name)
      throw call.error('Misconfigured', `${name} is another machine: the providerID names ${provided}`);
    const shown = normalUUID((machine.instance?.spec ?? machine.vm?.spec?.template?.spec)?.domain?.firmware?.uuid);
    const expected = normalUUID(identity.systemUUID);
    // A name alone may have been given to another machine since.
    if (expected === undefined) return 'unverified';
    if (shown !== undefined && !areSameUUID(shown, expected))
      throw call.error('Misconfigured', `${name} is another machine: its firmware UUID is ${shown}, the node's ${expected}`);
    const uid = machine.vm?.metadata.uid;
    const key = JSON.stringify([device, uid, identity]);
    if (uid !== undefined && this.#known.has(key)) return 'verified';
    const isSure = shown !== undefined && (!areSameUUID(shown, uuidOfName(name)) || isAddressed(identity, machine));
    if (isSure && uid !== undefined) this.#know(key);
    return isSure ? 'verified' : 'unverified';
  }

  #know(key: string): void {
    const [oldest] = this.#known;
    if (oldest !== undefined && this.#known.size >= KNOWN_MAX) this.#known.delete(oldest);
    this.#known.add(key);
  }
}

/** UUID of version 5, RFC 9562; 32 digits. */
export function uuidOfName(name: string): string {
  const bytes = createHash('sha1').update(Buffer.from(NAMES, 'hex')).update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex');
}

/** An ended launcher pod keeps its addresses, which are those of a machine behind masquerade. */
function isAddressed({ addresses = [] }: Identity, { instance, pods }: Shown): boolean {
  const interfaces = (instance?.status?.interfaces ?? []).flatMap(({ ipAddress, ipAddresses = [] }) => [ipAddress, ...ipAddresses]);
  const ofPods = pods.flatMap(({ status }) => [status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)]);
  const shown = new Set([...interfaces, ...ofPods].map(plainAddress).filter((address) => address !== '' && !OF_EVERYBODY.has(address)));
  return addresses.some((address) => shown.has(plainAddress(address)));
}

function plainAddress(address = ''): string {
  return address
    .trim()
    .toLowerCase()
    .replace(/\/\d+$/, '');
}
