import { AgentError } from '../../src/ports/agents.ts';
import type { AgentContext, Outcome, PowerAgent, PowerState, Reading, Target } from '../../src/ports/agents.ts';
import { NODES } from '../../src/ports/resources.ts';
import { ConnectedClusters } from '../shared/cluster/connected-clusters.ts';
import { ObjectCall } from '../shared/cluster/object-call.ts';
import { canonical, parsed } from '../shared/parameter-schema.ts';
import { Absences } from './absences.ts';
import { Identities } from './identity.ts';
import { HALTED_BY_US, isHalted, isLauncherOf, isTerminated, LAUNCHER_PODS, LAUNCHER_SELECTOR, runsBy } from './objects.ts';
import { VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES, WITNESS } from './objects.ts';
import type { LauncherPod, VirtualMachine, VirtualMachineInstance } from './objects.ts';
import { kubevirtParameters, providedName } from './parameters.ts';
import { powerOf, worldOf } from './power.ts';

/** The kubelet kills what has not ended by then; 0 would delete the pod without asking it. */
const GRACE_SECONDS = 1;

interface Named {
  name: string;
  namespace: string;
  hosts: readonly string[];
}

interface Machine {
  vm: VirtualMachine | undefined;
  instance: VirtualMachineInstance | undefined;
  pods: LauncherPod[];
  identity: 'verified' | 'unverified';
}

/** A node that is a KubeVirt machine: halted at its VirtualMachine, ended at its launcher pods, and read from what the kubelets say of those. */
export class KubevirtAgent implements PowerAgent {
  readonly kind = 'power';
  readonly #context: AgentContext;
  readonly #clusters: ConnectedClusters;
  readonly #absences: Absences;
  readonly #identities = new Identities();

  constructor(context: AgentContext) {
    this.#context = context;
    this.#clusters = new ConnectedClusters(context);
    this.#absences = new Absences(context.clock);
  }

  async read(target: Target): Promise<Reading<PowerState>> {
    return this.#with(target, 'read the machine', async (call, named) => {
      const [machine, nodes] = await Promise.all([find(call, named, this.#identities), call.list(NODES)]);
      const view = { ...machine, nodes, hosts: named.hosts };
      return { ...powerOf({ ...view, absentForMs: this.#absentForMs(target, named, view) }), identity: machine.identity };
    });
  }

  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#with(target, `set ${state}`, async (call, named) => {
      const { vm, pods } = await find(call, named, this.#identities);
      if (vm === undefined)
        throw call.error('Refused', `${named.namespace}/${named.name} is an instance without a VirtualMachine: nothing could start it again`);
      return state === 'off' ? halt(call, vm, pods) : start(call, vm, pods);
    });
  }

  async close(): Promise<void> {
    await this.#clusters.close();
  }

  #absentForMs({ device }: Target, { namespace, name }: Named, view: Parameters<typeof worldOf>[0]): number {
    const machine = `${device} ${namespace}/${name}`;
    if (view.pods.length === 0) return this.#absences.forMs(machine, worldOf(view));
    this.#absences.end(machine);
    return 0;
  }

  #with<T>(target: Target, asked: string, work: (call: ObjectCall, named: Named) => Promise<T>): Promise<T> {
    const named = canonical(kubevirtParameters, target.parameters);
    return ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig: named['kubeconfig'] }, async (call) => {
      const result = parsed(kubevirtParameters, target.parameters);
      if (!result.success)
        throw call.error('Misconfigured', result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
      const { vm, namespace, hosts } = result.data;
      const name = target.plug === '' ? (vm ?? providedName(target.identity.providerID)) : target.plug;
      if (name === undefined)
        throw call.error('Misconfigured', `nothing names the VirtualMachine of node ${target.identity.node}: write vm= or plug=`);
      if (namespace === undefined) throw call.error('Misconfigured', `VirtualMachine ${name}: namespace is missing`);
      return work(call, { name, namespace, hosts });
    });
  }
}

async function find(call: ObjectCall, { name, namespace }: Named, identities: Identities): Promise<Machine> {
  const [vm, instance, launchers] = await Promise.all([
    call.get(VIRTUAL_MACHINES, name, namespace),
    call.get(VIRTUAL_MACHINE_INSTANCES, name, namespace),
    call.list(LAUNCHER_PODS, { namespace, labelSelector: LAUNCHER_SELECTOR }),
  ]);
  if (vm === undefined && instance === undefined) throw call.error('Misconfigured', `there is no VirtualMachine ${namespace}/${name}`);
  const pods = launchers.filter((pod) => isLauncherOf(pod, name));
  return { vm, instance, pods, identity: identities.of(call, name, { vm, instance, pods }) };
}

/** The witness first: nothing can be added to a pod that is being deleted. Then nothing starts it again; then its process is ended. */
async function halt(call: ObjectCall, vm: VirtualMachine, pods: readonly LauncherPod[]): Promise<Outcome> {
  const alive = pods.filter((pod) => !isTerminated(pod));
  try {
    for (const pod of alive) await setWitness(call, pod);
    await call.edit(VIRTUAL_MACHINES, vm, (seen) => {
      if (isHalted(seen)) return undefined;
      const spec = seen.spec?.runStrategy === undefined && seen.spec?.running !== undefined ? { running: false } : { runStrategy: 'Halted' };
      return { metadata: { annotations: { [HALTED_BY_US]: runsBy(seen) } }, spec };
    });
  } catch (error) {
    // Not even halted: nothing of ours may keep its pods from going one day.
    if (error instanceof AgentError && error.kind === 'Refused') await takeWitnesses(call, alive);
    throw error;
  }
  for (const { metadata } of alive) {
    const uid = metadata.uid;
    await call.remove(LAUNCHER_PODS, metadata.name, {
      gracePeriodSeconds: GRACE_SECONDS,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      ...(uid === undefined ? {} : { uid }),
    });
  }
  return { result: 'accepted', detail: `halted, ${alive.length} launcher pod(s) told to end` };
}

async function setWitness(call: ObjectCall, pod: LauncherPod): Promise<void> {
  await call.edit(LAUNCHER_PODS, pod, ({ metadata }) => {
    const finalizers = metadata.finalizers ?? [];
    if (metadata.deletionTimestamp !== undefined || finalizers.includes(WITNESS)) return undefined;
    return { metadata: { finalizers: [...finalizers, WITNESS] } };
  });
}

async function takeWitnesses(call: ObjectCall, pods: readonly LauncherPod[]): Promise<void> {
  for (const pod of pods) {
    const fresh = await call.get(LAUNCHER_PODS, pod.metadata.name, pod.metadata.namespace);
    if (fresh?.metadata.finalizers?.includes(WITNESS) !== true) continue;
    await call.edit(LAUNCHER_PODS, fresh, ({ metadata }) => {
      const finalizers = metadata.finalizers ?? [];
      return finalizers.includes(WITNESS) ? { metadata: { finalizers: finalizers.filter((one) => one !== WITNESS) } } : undefined;
    });
  }
}

/** As it was to run before; what somebody else has halted stays so. */
async function start(call: ObjectCall, vm: VirtualMachine, pods: readonly LauncherPod[]): Promise<Outcome> {
  await takeWitnesses(call, pods);
  const before = vm.metadata.annotations?.[HALTED_BY_US];
  if (before === undefined && isHalted(vm)) throw call.error('Refused', `${runsBy(vm)}: somebody else has halted this machine on purpose`);
  await call.edit(VIRTUAL_MACHINES, vm, (seen) => {
    const [, field, value = ''] = /^(runStrategy|running)=(\w+)$/.exec(seen.metadata.annotations?.[HALTED_BY_US] ?? '') ?? [];
    if (field === undefined) return undefined;
    const spec = field === 'running' ? { running: value === 'true' } : { runStrategy: value };
    return { metadata: { annotations: { [HALTED_BY_US]: null } }, ...(isHalted(seen) ? { spec } : {}) };
  });
  return { result: 'accepted', detail: before === undefined ? 'it is to run already' : `${before} again` };
}
