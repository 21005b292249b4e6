import type { Clock } from '../../ports/clock.ts';
import type { Node, Pod } from '../../ports/objects.ts';
import { NODES } from '../../ports/resources.ts';
import { ObjectWorld } from './object-world.ts';
import type { Reach } from './object-world.ts';
import { isHalted, LAUNCHER_PODS, MACHINE_HOSTS, VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES } from './machine-kinds.ts';
import type { VirtualMachine } from './machine-kinds.ts';

export const NAMESPACE = 'tenants';
export const FIRMWARE = '1e2d3c4b-0000-4000-8000-00000000abcd';

/** An infrastructure cluster with two hosts: its machines, and what its kubelets and virt-controller do when they are told to. */
export class MachineWorld {
  readonly objects: ObjectWorld;
  /** Names of machines whose process runs, whatever any object says. */
  readonly running = new Set<string>();
  /** Instances that are being deleted, and stay until their pods are gone. */
  readonly #leaving = new Set<string>();
  /** Pods that a kubelet has a process for, by uid. */
  readonly #processes = new Map<string, string>();

  private constructor(objects: ObjectWorld) {
    this.objects = objects;
  }

  static async start(clock: Clock, reach: Reach): Promise<MachineWorld> {
    const objects = await ObjectWorld.with(clock, [VIRTUAL_MACHINES, VIRTUAL_MACHINE_INSTANCES], NAMESPACE, reach);
    const world = new MachineWorld(objects);
    for (const name of ['host-1', 'host-2']) {
      const node: Node = { metadata: { name, labels: { [MACHINE_HOSTS]: 'true' } }, spec: {}, status: {} };
      await objects.cluster.create(NODES, node);
      await world.ready(name, 'True');
    }
    return world;
  }

  ready(host: string, status: 'True' | 'False' | 'Unknown', lastTransitionTime?: string): Promise<void> {
    return this.objects.status(NODES, host, {
      conditions: [{ type: 'Ready', status, ...(lastTransitionTime !== undefined && { lastTransitionTime }) }],
    });
  }

  async machine(name: string, spec: NonNullable<VirtualMachine['spec']> = { runStrategy: 'Always' }): Promise<void> {
    const template = { spec: { domain: { firmware: { uuid: FIRMWARE } } } };
    const vm: VirtualMachine = { metadata: { name, namespace: NAMESPACE }, spec: { template, ...spec } };
    await this.objects.cluster.create(VIRTUAL_MACHINES, vm);
  }

  /** virt-controller: an instance and its launcher for each machine that is to run, and none for the others. */
  async control(host = 'host-1', deafTo = ''): Promise<void> {
    for (const vm of await this.objects.cluster.list(VIRTUAL_MACHINES, { namespace: NAMESPACE })) {
      const { name } = vm.metadata;
      if (name === deafTo) continue;
      const instance = await this.objects.cluster.get(VIRTUAL_MACHINE_INSTANCES, name, NAMESPACE);
      const pods = await this.pods(name);
      if (!isHalted(vm) && instance === undefined && pods.length === 0) await this.launch(name, host);
      if (isHalted(vm) && instance !== undefined) this.#leaving.add(name);
      if (!this.#leaving.has(name)) continue;
      for (const { metadata } of pods) if (metadata.deletionTimestamp === undefined) await this.remove(metadata.name, 30);
      if (pods.length > 0) continue;
      this.#leaving.delete(name);
      await this.objects.cluster.remove(VIRTUAL_MACHINE_INSTANCES, name, { namespace: NAMESPACE });
    }
  }

  async launch(name: string, host: string): Promise<void> {
    const { cluster } = this.objects;
    const vm = await cluster.get(VIRTUAL_MACHINES, name, NAMESPACE);
    const domain = vm?.spec?.template?.spec?.domain ?? { firmware: { uuid: FIRMWARE } };
    await cluster.create(VIRTUAL_MACHINE_INSTANCES, { metadata: { name, namespace: NAMESPACE }, spec: { domain } });
    await this.objects.status(VIRTUAL_MACHINE_INSTANCES, name, { phase: 'Running', nodeName: host }, NAMESPACE);
    await this.pod(name, host);
  }

  async pod(name: string, host: string, suffix = 'x', containers: readonly string[] = ['compute']): Promise<void> {
    const pod: Pod = {
      metadata: {
        name: `virt-launcher-${name}-${suffix}`,
        namespace: NAMESPACE,
        labels: { 'kubevirt.io': 'virt-launcher' },
        annotations: { 'kubevirt.io/domain': name },
      },
      spec: {
        nodeName: host,
        containers: containers.map((each) => ({ name: each, image: 'launcher' })),
        terminationGracePeriodSeconds: 30,
      } as Pod['spec'],
    };
    const created = await this.objects.cluster.create(LAUNCHER_PODS, pod);
    await this.objects.status(
      LAUNCHER_PODS,
      pod.metadata.name,
      { phase: 'Running', containerStatuses: containers.map((each) => ({ name: each, state: { running: {} } })) },
      NAMESPACE,
    );
    this.#processes.set(created.metadata.uid ?? '', name);
    this.running.add(name);
  }

  pods(name: string): Promise<Pod[]> {
    return this.objects.cluster
      .list(LAUNCHER_PODS, { namespace: NAMESPACE })
      .then((all) => all.filter(({ metadata }) => metadata.annotations?.['kubevirt.io/domain'] === name));
  }

  /** A kubelet that is alive ends what is to be deleted, says so, and lets the object go. */
  async kubelet(host: string): Promise<void> {
    for (const pod of await this.objects.cluster.list(LAUNCHER_PODS, { namespace: NAMESPACE })) {
      const { name, uid = '', deletionTimestamp } = pod.metadata;
      if (pod.spec.nodeName !== host || deletionTimestamp === undefined || !this.#processes.has(uid)) continue;
      await this.end(uid, name, 'Succeeded');
      await this.remove(name, 0);
    }
  }

  /** The process of a pod ends; its kubelet says so. */
  async end(uid: string, name: string, phase: string): Promise<void> {
    const machine = this.#processes.get(uid);
    this.#processes.delete(uid);
    if (machine !== undefined && ![...this.#processes.values()].includes(machine)) this.running.delete(machine);
    const ended = { phase, containerStatuses: [{ name: 'compute', state: { terminated: { exitCode: 137 } } }] };
    await this.objects.status(LAUNCHER_PODS, name, ended, NAMESPACE);
  }

  async remove(name: string, gracePeriodSeconds: number): Promise<void> {
    await this.objects.cluster.remove(LAUNCHER_PODS, name, { namespace: NAMESPACE, gracePeriodSeconds });
  }
}
