import { FLEET_NAMESPACE } from '../../../src/testbed/operators/fleet.ts';
import { DRIVER_FINALIZER } from '../../../src/testbed/operators/kinds.ts';
import type { ApiEvent } from '../../../src/laws/trace.ts';
import type { ApiClient } from '../../../src/kube/client.ts';
import { MACHINE_NODE_LABEL, MACHINES } from '../../../src/ports/machines.ts';
import type { Machine } from '../../../src/ports/machines.ts';
import { NODES } from '../../../src/ports/resources.ts';
import type { Hardware } from '../hardware.ts';
import type { KernelView } from '../../../src/testbed/simulation/kernel-view.ts';

const RESOURCE = 'machines.machine.sapcloud.io';
const DRIVE_MS = 500;
/** From the end of a Machine to the next one in its place. */
const REPLACED_MS = 20_000;

export interface MachineDriverOptions {
  kernel: Pick<KernelView, 'nowMs' | 'schedule' | 'trace'>;
  admin: ApiClient;
  hardware: Pick<Hardware, 'pullPlug' | 'startNext' | 'later'>;
}

/** What is left of MCM: a Machine that is deleted goes with its power and its Node, and its set makes another one of the same hardware. */
export class MachineDriver {
  readonly #options: MachineDriverOptions;
  readonly #driven = new Set<string>();
  readonly #ended = new Set<string>();

  constructor(options: MachineDriverOptions) {
    this.#options = options;
  }

  /** Its Machine has ended, and no Node has come in the place of the one that went with it. */
  hasEnded(node: string): boolean {
    return this.#ended.has(node);
  }

  hear(event: ApiEvent): void {
    if (event.resource === 'nodes' && event.verb === 'create' && event.status < 300 && event.name !== undefined) this.#ended.delete(event.name);
    if (event.resource !== RESOURCE || event.status >= 300 || event.object === undefined) return;
    const machine = event.object as Machine;
    const { uid = '', deletionTimestamp, finalizers = [] } = machine.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(DRIVER_FINALIZER) || this.#driven.has(uid)) return;
    this.#driven.add(uid);
    this.#options.hardware.later(DRIVE_MS, () => void this.#end(machine));
  }

  /** The power first: who deletes the Node of a machine that writes on lets Kubernetes free what it holds. */
  async #end(machine: Machine): Promise<void> {
    const { admin, hardware } = this.#options;
    const node = machine.metadata.labels?.[MACHINE_NODE_LABEL] ?? '';
    hardware.pullPlug(node);
    hardware.later(REPLACED_MS, () => void this.#replace(machine, node));
    await admin.remove(NODES, node);
    this.#ended.add(node);
    await admin.mergePatch(MACHINES, machine.metadata.name, { metadata: { finalizers: [] } }, { namespace: FLEET_NAMESPACE });
  }

  async #replace({ metadata, spec }: Machine, node: string): Promise<void> {
    const { admin, hardware } = this.#options;
    const { name, namespace = FLEET_NAMESPACE, labels, ownerReferences = [] } = metadata;
    const standing = await admin.get(MACHINES, name, namespace);
    if (standing !== undefined) return;
    await admin.create(MACHINES, {
      metadata: { name, namespace, ...(labels !== undefined && { labels }), ownerReferences, finalizers: [DRIVER_FINALIZER] },
      ...(spec !== undefined && { spec }),
    });
    await admin.mergePatch(MACHINES, name, { status: { currentStatus: { phase: 'Pending' } } }, { namespace, subresource: 'status' });
    hardware.startNext(node);
  }
}
