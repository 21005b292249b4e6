import { judge, violationsOf } from '../../src/laws/judge.ts';
import type { ApiEvent, DeviceEvent, TraceEvent } from '../../src/laws/trace.ts';
import { NAMESPACE, CONTROLLER_ACCOUNT } from '../../src/manifests/access.ts';
import { LEADER_LEASE } from '../../src/manager/composition.ts';
import { PACE } from './settings.ts';

/** The ServiceAccount of the shipped manifests, under exactly their rights. */
export const CONTROLLER_USER = `system:serviceaccount:${NAMESPACE}:${CONTROLLER_ACCOUNT}`;
export const CONTROLLER_GROUPS = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`];

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** What was seen from outside the controller: devices, the API's audit, the disk, the power. Nothing here is the controller's own word. */
export class Witness {
  readonly trace: TraceEvent[] = [];

  readonly record = (event: TraceEvent): void => {
    this.trace.push(event);
  };

  /** What the BMC of this node was told to do: `off 204`. */
  sets(node: string): string[] {
    return this.deviceEvents(node)
      .filter(({ action }) => action === 'set')
      .map(({ want, answer }) => `${want} ${answer}`);
  }

  deviceEvents(node: string): DeviceEvent[] {
    return this.trace.filter((event): event is DeviceEvent => event.kind === 'device' && event.node === node);
  }

  /** Writes of the controller that arrived, as `patch nodes a`. */
  controllerWrites(): ApiEvent[] {
    return this.trace.filter(
      (event): event is ApiEvent => event.kind === 'api' && event.user === CONTROLLER_USER && WRITES.has(event.verb) && event.status < 300,
    );
  }

  /** Kinds that the controller wrote, with their subresource: `nodefences/status`. */
  kindsWritten(): string[] {
    const kinds = this.controllerWrites().map(({ resource, subresource }) => (subresource === undefined ? resource : `${resource}/${subresource}`));
    return [...new Set(kinds)].sort();
  }

  /** Everything that lets a workload go: pods deleted or evicted, VolumeAttachments and Nodes deleted, out-of-service taints set. */
  releases(): string[] {
    return this.controllerWrites()
      .filter((write) => isRelease(write))
      .map(({ verb, resource, name }) => `${verb} ${resource} ${name ?? ''}`);
  }

  /** Cordons of the node by the controller. */
  cordons(node: string): ApiEvent[] {
    return this.#unschedulable(node, true);
  }

  uncordons(node: string): ApiEvent[] {
    return this.#unschedulable(node, null);
  }

  /** Violations of the eleven laws, and two writers on one volume. */
  violations(secrets: readonly string[], texts: Readonly<Record<string, string>>): string[] {
    const judgement = judge(this.trace, {
      controllerUser: CONTROLLER_USER,
      leaseName: LEADER_LEASE,
      offStableMs: PACE.offStableMs,
      settleMs: PACE.settleMs,
      releaseTimeoutMs: PACE.releaseTimeoutMs,
      secrets,
      texts,
    });
    const { overlaps } = judgement.writers;
    return [...violationsOf(judgement), ...(overlaps === 0 ? [] : [`${overlaps} times two writers had one volume`])];
  }

  #unschedulable(node: string, value: boolean | null): ApiEvent[] {
    const asked = (event: ApiEvent): unknown => (event.request as { spec?: { unschedulable?: boolean | null } } | undefined)?.spec?.unschedulable;
    return this.controllerWrites().filter((event) => event.resource === 'nodes' && event.name === node && asked(event) === value);
  }
}

function isRelease({ verb, resource, subresource, request }: ApiEvent): boolean {
  if (resource === 'pods') return verb.startsWith('delete') || subresource === 'eviction';
  if (verb.startsWith('delete')) return resource === 'volumeattachments.storage.k8s.io' || resource === 'nodes';
  const taints = (request as { spec?: { taints?: { key: string }[] } } | undefined)?.spec?.taints ?? [];
  return resource === 'nodes' && taints.some(({ key }) => key === 'node.kubernetes.io/out-of-service');
}
