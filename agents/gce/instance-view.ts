import type { Identity, PowerState } from '../../src/ports/agents.ts';
import type { MachineFacts } from '../shared/cloud/instance.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { listAt, member, textAt } from '../shared/web/web-client.ts';
import { isNumeric, provided, type Place } from './place.ts';

/** What is asked of an instance: no more, for its metadata holds secrets of its start. */
export const FIELDS = 'id,name,status,statusMessage,selfLink,disks(type),networkInterfaces(networkIP,ipv6Address)';
/** Besides them, once: whether a group manages it stands in its metadata only. */
export const METADATA_FIELDS = 'metadata(items(key,value))';

/** An instance as the API shows it. */
export interface GceInstance {
  id: string;
  name: string;
  state: PowerState;
  /** `status=RUNNING`, and why it is neither on nor off. */
  words: string;
  addresses: readonly string[];
  hasLocalSsd: boolean;
  /** Of its path; undefined where there is none. */
  project: string | undefined;
  /** The managed instance group that made it. */
  group: string | undefined;
}

const SUSPENDED = 'its memory is kept, and a resume would go on to write: stop it, or resume it';

/** Every status that the reference of Compute Engine v1 names. What is not listed is unknown. */
const STATES: ReadonlyMap<string, { state: PowerState; why?: string }> = new Map([
  ['RUNNING', { state: 'on' }],
  ['TERMINATED', { state: 'off' }],
  ['STOPPED', { state: 'off' }],
  ['STOPPING', { state: 'pending' }],
  ['PENDING_STOP', { state: 'pending', why: 'it is being shut down gracefully' }],
  ['PENDING', { state: 'pending', why: 'it waits for capacity' }],
  ['PROVISIONING', { state: 'pending' }],
  ['STAGING', { state: 'pending' }],
  ['DEPROVISIONING', { state: 'pending', why: 'it is being deleted' }],
  ['SUSPENDING', { state: 'unknown', why: SUSPENDED }],
  ['SUSPENDED', { state: 'unknown', why: SUSPENDED }],
  ['REPAIRING', { state: 'unknown', why: 'the cloud repairs it and may start it again' }],
]);

/** The instance in an answer; undefined where there is none. */
export function instanceIn(body: unknown): GceInstance | undefined {
  const [id, name] = [textAt(body, 'id'), textAt(body, 'name')];
  if (id === undefined || !isNumeric(id) || name === undefined) return undefined;
  const interfaces = listAt(body, 'networkInterfaces');
  const shown = interfaces.flatMap((one) => [textAt(one, 'networkIP'), textAt(one, 'ipv6Address')]);
  return {
    id,
    name,
    ...stateOf(body),
    addresses: shown.filter((address) => address !== undefined),
    hasLocalSsd: listAt(body, 'disks').some((disk) => textAt(disk, 'type') === 'SCRATCH'),
    project: /\/projects\/([^/]+)\//.exec(textAt(body, 'selfLink') ?? '')?.[1],
    group: groupIn(body),
  };
}

function stateOf(body: unknown): { state: PowerState; words: string } {
  const status = member(body, 'status');
  const told = typeof status === 'string' ? deviceMessage(status, []) : status === undefined ? 'absent' : JSON.stringify(status).slice(0, 40);
  const { state, why } = (typeof status === 'string' ? STATES.get(status) : undefined) ?? { state: 'unknown' as const, why: undefined };
  const message = deviceMessage(textAt(body, 'statusMessage') ?? '', []);
  const words = [`status=${told}`, ...(why === undefined ? [] : [why]), ...(message === '' ? [] : [message])];
  return { state, words: words.join(': ') };
}

/** `created-by` in its metadata: `projects/1/zones/z/instanceGroupManagers/group`. */
function groupIn(body: unknown): string | undefined {
  const createdBy = listAt(body, 'metadata', 'items').find((item) => textAt(item, 'key') === 'created-by');
  return /\/instanceGroupManagers\/([^/]+)$/.exec(textAt(createdBy, 'value') ?? '')?.[1];
}

/** What tells this machine from another. The API shows no UUID of its firmware. */
export function machineOf(place: Place, instance: GceInstance, identity: Identity): MachineFacts {
  return { providerID: providerOf(place, instance, identity), addresses: instance.addresses };
}

function providerOf(place: Place, instance: GceInstance, identity: Identity): MachineFacts['providerID'] {
  const named = provided(identity.providerID);
  if (named === undefined) return 'unknown';
  if (named.zone !== place.zone || named.instance !== instance.name) return 'other';
  const projects = [place.project, instance.project].filter((project) => project !== undefined);
  // A project has an id and a number: where each side has another of them alone, nothing can be compared.
  const isComparable = projects.some((project) => isNumeric(project) === isNumeric(named.project));
  if (!projects.includes(named.project)) return isComparable ? 'other' : 'unknown';
  return place.instanceId === instance.id ? 'same' : 'named';
}
