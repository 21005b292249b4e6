import { kubevirt } from '../../agents/kubevirt/definition.ts';
import { HALTED_BY_US, LAUNCHER_PODS, VIRTUAL_MACHINES } from '../../agents/kubevirt/objects.ts';
import type { VirtualMachine } from '../../agents/kubevirt/objects.ts';
import { FIRMWARE, MachineWorld, NAMESPACE } from '../../src/testbed/objects/machine-world.ts';
import { NODES } from '../../src/ports/resources.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { testFaultProfile } from './harness.ts';
import { actsAfterMs, API_WORDS, commandsOf, connectionTo, everyMoment, faultOf, KUBECONFIG } from './object-faults.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';
import { reach } from '../reach.ts';

const clock = new SystemClock();

/** virt-controller and kubelets, who do what objects say: late, or not at all, where the behaviour is so. */
class Infrastructure {
  readonly #world: MachineWorld;
  readonly #behaviour: Behaviour;
  readonly #idleSince = new Map<string, number>();
  #endedAtMs: number | undefined;

  constructor(world: MachineWorld, behaviour: Behaviour) {
    this.#world = world;
    this.#behaviour = behaviour;
  }

  async look(): Promise<void> {
    if (['accepts-and-lies', 'state-pending'].includes(this.#behaviour)) return;
    if (this.#behaviour === 'slow' && !(await this.#isRipe())) return;
    const wasRunning = this.#world.running.size;
    for (const host of ['host-1', ...(this.#behaviour === 'one-plug-stuck' ? [] : ['host-2'])]) await this.#world.kubelet(host);
    if (this.#world.running.size < wasRunning) this.#endedAtMs = clock.monotonicMs();
    await this.#world.control('host-1', this.#behaviour === 'one-plug-stuck' ? 'vm-b' : '');
    if (this.#behaviour === 'flips-back-on' && this.#endedAtMs !== undefined && clock.monotonicMs() - this.#endedAtMs > 500) {
      this.#endedAtMs = undefined;
      await this.#world.objects.cluster.mergePatch(VIRTUAL_MACHINES, 'vm-a', { spec: { runStrategy: 'Always' } }, { namespace: NAMESPACE });
      await this.#world.pod('vm-a', 'host-2', 'again');
    }
  }

  /** What is wanted has been so for long enough. */
  async #isRipe(): Promise<boolean> {
    const pods = await this.#world.objects.cluster.list(LAUNCHER_PODS, { namespace: NAMESPACE });
    const machine = await this.#world.objects.cluster.get(VIRTUAL_MACHINES, 'vm-a', NAMESPACE);
    const key = JSON.stringify([machine?.spec?.runStrategy, pods.length === 0 ? 0 : 1]);
    const sinceMs = this.#idleSince.get(key) ?? clock.monotonicMs();
    if (!this.#idleSince.has(key)) this.#idleSince.clear();
    this.#idleSince.set(key, sinceMs);
    return clock.monotonicMs() - sinceMs >= actsAfterMs(this.#behaviour);
  }
}

async function enrol(world: MachineWorld, name: string, host: string, isOn: boolean): Promise<void> {
  await world.machine(name, { runStrategy: isOn ? 'Always' : 'Halted' });
  if (isOn) await world.launch(name, host);
  else await annotate(world, name);
}

async function annotate(world: MachineWorld, name: string): Promise<void> {
  const patch = { metadata: { annotations: { [HALTED_BY_US]: 'runStrategy=Always' } }, spec: { runStrategy: 'Halted' } };
  await world.objects.cluster.mergePatch(VIRTUAL_MACHINES, name, patch, { namespace: NAMESPACE });
}

async function spawn(behaviour: Behaviour, isOn: boolean): Promise<DeviceFixture> {
  const world = await MachineWorld.start(clock, reach);
  const plugs = behaviour === 'one-plug-stuck' ? ['vm-a', 'vm-b'] : ['vm-a'];
  for (const [at, name] of plugs.entries()) await enrol(world, name, `host-${at + 1}`, isOn);
  if (behaviour === 'state-pending' && isOn) {
    await annotate(world, 'vm-a');
    for (const { metadata } of await world.pods('vm-a')) await world.remove(metadata.name, 30);
  }
  if (behaviour === 'state-unknown') for (const host of ['host-1', 'host-2']) await world.ready(host, 'Unknown');
  if (behaviour === 'state-null') for (const host of ['host-1', 'host-2']) await world.objects.status(NODES, host, { conditions: [] });
  const infrastructure = new Infrastructure(world, behaviour);
  const stop = everyMoment(() => infrastructure.look());
  const { objects } = world;
  const connection = connectionTo(objects);
  objects.writes.length = 0;
  objects.fault = faultOf(behaviour);
  const systemUUID = behaviour === 'wrong-machine' ? '99999999-0000-4000-8000-00000000abcd' : FIRMWARE;
  return {
    parameters: { kubeconfig: KUBECONFIG, namespace: NAMESPACE, hosts: 'host-1, host-2' },
    plugs,
    identity: { node: 'a', systemUUID },
    context: { connect: connection.connect },
    flows: (plug) => world.running.has(plug),
    commands: () =>
      commandsOf(objects, plugs, ({ path, body }, plug) => {
        const spec = (body as VirtualMachine | undefined)?.spec;
        if (!path.endsWith(`/virtualmachines/${plug}`) || spec === undefined) return undefined;
        return spec.runStrategy === 'Halted' ? 'off' : 'on';
      }),
    leftOpen: () => ({ sessions: 0, connections: connection.open(), processes: 0 }),
    close: stop,
  };
}

const SAID = /runStrategy=(?:Always|Halted), phase=/u;

testFaultProfile({
  agent: kubevirt,
  cannot: { restarts: 'an API server keeps what it was told through a restart', 'session-limit': 'an API server has no sessions' },
  words: {
    ...API_WORDS,
    'accepts-and-lies': SAID,
    'state-unknown': /is not alive \(Ready=Unknown\)/u,
    'state-null': /is not alive \(Ready=absent\)/u,
    'state-pending': SAID,
    'flips-back-on': SAID,
    'wrong-machine': /vm-a is another machine: its firmware UUID is/u,
    'one-plug-stuck': SAID,
    'late-after-deadline': /runStrategy=|no complete answer within/u,
  },
  spawn,
});
