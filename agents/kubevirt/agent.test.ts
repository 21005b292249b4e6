import { beforeEach, describe, expect, it } from 'vitest';

import type { PowerAgent, Target } from '../../src/ports/agents.ts';
import { NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { kubevirt } from './definition.ts';
import { uuidOfName } from './identity.ts';
import { HALTED_BY_US, LAUNCHER_PODS, VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES, WITNESS } from './objects.ts';
import { FIRMWARE, MachineWorld, NAMESPACE } from '../../src/testbed/objects/machine-world.ts';
import { reach } from '../../test/reach.ts';

/** 30 s are the machine's, 30 s its launcher's, 60 s the kubelet's. */
const LONG_MS = 120_000;

describe('kubevirt', () => {
  let world: MachineWorld;
  let agent: PowerAgent;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock();
    world = await MachineWorld.start(clock, reach);
    const created = await kubevirt.create({ cluster: world.objects.seen, clock });
    if (created.kind !== 'power') throw new Error('not a power agent');
    agent = created;
    await world.machine('worker-1');
    await world.control();
  });

  function target(change: Partial<Target> = {}): Target {
    return {
      plug: 'worker-1',
      device: 'kubevirt tenants',
      parameters: { namespace: NAMESPACE },
      identity: { node: 'worker-1', systemUUID: FIRMWARE },
      signal: new AbortController().signal,
      deadlineMs: 5_000,
      beforeSend: () => undefined,
      ...change,
    };
  }

  const vm = () => world.objects.cluster.get(VIRTUAL_MACHINES, 'worker-1', NAMESPACE);
  const read = () => agent.read(target());
  const readOfHosts = (hosts = 'host-1, host-2') => agent.read(target({ parameters: { namespace: NAMESPACE, hosts } }));

  it('ends the machine, keeps the pod to be seen, and believes its kubelet', async () => {
    expect(await read()).toMatchObject({ state: 'on', identity: 'verified' });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect((await vm())?.spec?.runStrategy).toBe('Halted');
    const [pod] = await world.pods('worker-1');
    expect(pod?.metadata).toMatchObject({ finalizers: [WITNESS], deletionGracePeriodSeconds: 1 });
    expect(await read()).toMatchObject({ state: 'pending' });
    await world.kubelet('host-1');
    await world.control();
    expect(world.running.has('worker-1')).toBe(false);
    expect(await read()).toMatchObject({ state: 'off', identity: 'verified' });
    await world.ready('host-1', 'Unknown');
    expect(await read(), 'what the dead kubelet once said').toMatchObject({ state: 'unknown' });
  });

  it('is not verified by its name alone: another machine may have it by now', async () => {
    const named = { node: 'worker-1', providerID: 'kubevirt://worker-1' };
    expect(await agent.read(target({ identity: named }))).toMatchObject({ state: 'on', identity: 'unverified' });
    expect(await agent.read(target({ identity: { ...named, systemUUID: FIRMWARE } }))).toMatchObject({ identity: 'verified' });
  });

  it('stays verified while it is off, where its instance alone showed the UUID', async () => {
    const node = { node: 'bare', systemUUID: FIRMWARE };
    const readBare = (hosts = 'host-1, host-2') => agent.read(target({ plug: 'bare', identity: node, parameters: { namespace: NAMESPACE, hosts } }));
    await world.machine('bare', { runStrategy: 'Halted', template: {} });
    expect(await readBare(), 'never seen to run').toMatchObject({ identity: 'unverified' });
    await world.launch('bare', 'host-1');
    expect(await readBare()).toMatchObject({ identity: 'verified' });
    await world.remove('virt-launcher-bare-x', 0);
    await world.objects.cluster.remove(VIRTUAL_MACHINE_INSTANCES, 'bare', { namespace: NAMESPACE });
    expect(await readBare()).toMatchObject({ identity: 'verified' });
  });

  describe('with a UUID that KubeVirt made of its name, which machines of other namespaces share', () => {
    const uuid = uuidOfName('named');
    const node = { node: 'named', systemUUID: uuid };
    const readAs = (addresses?: string[]) => agent.read(target({ plug: 'named', identity: { ...node, ...(addresses && { addresses }) } }));
    const shows = (change: { instance?: string; pod?: string }) =>
      Promise.all([
        change.instance === undefined ||
          world.objects.status(VIRTUAL_MACHINE_INSTANCES, 'named', { interfaces: [{ ipAddress: change.instance }] }, NAMESPACE),
        change.pod === undefined || world.objects.status(LAUNCHER_PODS, 'virt-launcher-named-x', { podIP: change.pod }, NAMESPACE),
      ]);

    beforeEach(async () => {
      await world.machine('named', { runStrategy: 'Always', template: { spec: { domain: { firmware: { uuid } } } } });
      await world.control();
    });

    it('knows that UUID as KubeVirt makes it', () => {
      // uuid.NewSHA1 of the namespace of kubevirt/kubevirt and `worker-1`.
      expect(uuidOfName('worker-1')).toBe('80248f333a6652d59e26a4a2f8ea81d9');
    });

    it('is not verified by it', async () => {
      expect(await readAs(['10.0.7.9'])).toMatchObject({ state: 'on', identity: 'unverified' });
      await shows({ instance: '10.0.7.8', pod: '10.0.7.8' });
      expect(await readAs(['10.0.7.9']), 'another address').toMatchObject({ identity: 'unverified' });
      expect(await readAs(), 'none is known of the node').toMatchObject({ identity: 'unverified' });
    });

    it.each([{ instance: '10.0.7.9/24' }, { pod: '10.0.7.9' }])('is verified by an address of the node: %j', async (change) => {
      await shows(change);
      expect(await readAs(['10.0.7.9'])).toMatchObject({ identity: 'verified' });
    });

    it('is not verified by the address that every guest behind masquerade has', async () => {
      await shows({ instance: '10.0.2.2' });
      expect(await readAs(['10.0.2.2'])).toMatchObject({ identity: 'unverified' });
    });

    it('stays verified while it is off and shows no address, and no other that takes its name', async () => {
      await shows({ instance: '10.0.7.9' });
      await readAs(['10.0.7.9']);
      await agent.set(target({ plug: 'named', identity: { ...node, addresses: ['10.0.7.9'] } }), 'off');
      await world.kubelet('host-1');
      await world.control();
      await world.objects.status(VIRTUAL_MACHINE_INSTANCES, 'named', { interfaces: [] }, NAMESPACE);
      expect(await readAs(['10.0.7.9'])).toMatchObject({ state: 'off', identity: 'verified' });
      await world.objects.cluster.remove(VIRTUAL_MACHINES, 'named', { namespace: NAMESPACE });
      await world.machine('named', { runStrategy: 'Always', template: { spec: { domain: { firmware: { uuid } } } } });
      expect(await readAs(['10.0.7.9'])).toMatchObject({ identity: 'unverified' });
    });
  });

  it('ends the pods that it saw, and none that took the name of one', async () => {
    const [seen] = await world.pods('worker-1');
    const name = seen?.metadata.name ?? '';
    await agent.set(target(), 'off');
    const deletions = world.objects.writes.filter(({ method }) => method === 'DELETE');
    expect(deletions).toMatchObject([{ path: expect.stringContaining(name) as string, body: { preconditions: { uid: seen?.metadata.uid } } }]);
  });

  it('never believes that a pod was deleted by force', async () => {
    await agent.set(target(), 'off');
    await world.ready('host-1', 'Unknown');
    const [pod] = await world.pods('worker-1');
    await world.remove(pod?.metadata.name ?? '', 0);
    await world.control();
    expect(world.running.has('worker-1')).toBe(true);
    expect(await read()).toMatchObject({ state: 'unknown' });
    await world.ready('host-1', 'True');
    expect(await read(), 'the kubelet is back, and has not said so').toMatchObject({ state: 'pending' });
  });

  it('never believes a phase that the pod’s kubelet did not write', async () => {
    await agent.set(target(), 'off');
    const [pod] = await world.pods('worker-1');
    await world.objects.status(LAUNCHER_PODS, pod?.metadata.name ?? '', { phase: 'Failed' }, NAMESPACE);
    expect(await read()).toMatchObject({ state: 'pending' });
  });

  const ended = (name: string, reason = 'Error') => ({ name, state: { terminated: { exitCode: 137, reason } } });
  it.each([
    ['its kubelet found no more', ['compute'], [ended('compute', 'ContainerStatusUnknown')], 'unknown', 'found its container compute no more'],
    ['nothing is said of', ['compute', 'guest-console-log'], [ended('guest-console-log')], 'pending', 'phase=Failed'],
  ] as const)('does not take a container for ended that %s', async (_what, names, containerStatuses, state, words) => {
    await agent.set(target(), 'off');
    for (const { metadata } of await world.pods('worker-1')) {
      await world.objects.cluster.mergePatch(LAUNCHER_PODS, metadata.name, { metadata: { finalizers: null } }, { namespace: NAMESPACE });
      await world.remove(metadata.name, 0);
    }
    await world.pod('worker-1', 'host-1', 'z', names);
    await world.objects.status(LAUNCHER_PODS, 'virt-launcher-worker-1-z', { phase: 'Failed', containerStatuses }, NAMESPACE);
    expect(await read()).toMatchObject({ state, detail: expect.stringContaining(words) as string });
  });

  it('does not know where a machine without a pod may run, while a host is silent', async () => {
    const [pod] = await world.pods('worker-1');
    await world.remove(pod?.metadata.name ?? '', 0);
    expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('deleted by force') as string });
    await world.objects.cluster.mergePatch(VIRTUAL_MACHINES, 'worker-1', { spec: { runStrategy: 'Halted' } }, { namespace: NAMESPACE });
    await world.control();
    await world.ready('host-2', 'False');
    expect(await readOfHosts()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('node host-2 is not alive') as string });
    await world.ready('host-2', 'True');
    expect(await readOfHosts()).toMatchObject({ state: 'pending' });
    await clock.advance(LONG_MS);
    expect(await readOfHosts()).toMatchObject({ state: 'off' });
    await world.ready('host-2', 'False');
    expect(await readOfHosts('host-1'), 'one that has the label counts too').toMatchObject({ state: 'unknown' });
  });

  it('waits for the process of a pod that was deleted by force, which its kubelet takes some time to end', async () => {
    await world.objects.cluster.mergePatch(VIRTUAL_MACHINES, 'worker-1', { spec: { runStrategy: 'Halted' } }, { namespace: NAMESPACE });
    const [pod] = await world.pods('worker-1');
    await world.remove(pod?.metadata.name ?? '', 0);
    await world.control();
    expect(world.running.has('worker-1'), 'its process runs on').toBe(true);
    const waits = { state: 'pending', detail: expect.stringContaining('deleted by force takes up to 120 s') as string };
    expect(await readOfHosts()).toMatchObject(waits);
    await clock.advance(LONG_MS - 1);
    expect(await readOfHosts()).toMatchObject(waits);
    await clock.advance(1);
    expect(await readOfHosts()).toMatchObject({ state: 'off' });
  });

  it('waits as long as the machine itself may take, and anew when a host was not heard, or the machine has changed', async () => {
    await world.objects.cluster.mergePatch(VIRTUAL_MACHINES, 'worker-1', { spec: { runStrategy: 'Halted' } }, { namespace: NAMESPACE });
    for (const { metadata } of await world.pods('worker-1')) await world.remove(metadata.name, 0);
    await world.control();
    const afterMs = async (ms: number): Promise<string> => {
      await clock.advance(ms);
      return (await readOfHosts()).state;
    };
    expect([await afterMs(0), await afterMs(LONG_MS)]).toEqual(['pending', 'off']);
    await world.ready('host-1', 'Unknown');
    await world.ready('host-1', 'True', '2026-11-28T23:00:00Z');
    expect([await afterMs(0), await afterMs(LONG_MS)], 'between two looks').toEqual(['pending', 'off']);
    await world.objects.cluster.mergePatch(VIRTUAL_MACHINES, 'worker-1', { metadata: { annotations: { ran: 'once' } } }, { namespace: NAMESPACE });
    expect([await afterMs(0), await afterMs(LONG_MS)], 'it may have run').toEqual(['pending', 'off']);
    const patient = { spec: { template: { spec: { terminationGracePeriodSeconds: 300 } } } };
    await world.objects.cluster.mergePatch(VIRTUAL_MACHINES, 'worker-1', patient, { namespace: NAMESPACE });
    expect([await afterMs(0), await afterMs(LONG_MS), await afterMs(270_000)]).toEqual(['pending', 'pending', 'off']);
  });

  it('does not take a machine for off whose host hangs, and whose Node was deleted', async () => {
    await agent.set(target(), 'off');
    const [pod] = await world.pods('worker-1');
    // As the garbage collector does with what was bound to a Node that is gone.
    await world.objects.cluster.remove(NODES, 'host-1');
    await world.objects.cluster.mergePatch(LAUNCHER_PODS, pod?.metadata.name ?? '', { metadata: { finalizers: null } }, { namespace: NAMESPACE });
    await world.remove(pod?.metadata.name ?? '', 0);
    await world.control();
    expect(world.running.has('worker-1'), 'its process runs on').toBe(true);
    expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('name all of them in hosts=') as string });
    expect(await readOfHosts()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('there is no node host-1 any more') as string });
  });

  it('calls a machine that will be started again pending, however dead it is now', async () => {
    const [pod] = await world.pods('worker-1');
    await world.end(pod?.metadata.uid ?? '', pod?.metadata.name ?? '', 'Failed');
    expect(await read()).toMatchObject({ state: 'pending', detail: expect.stringContaining('it will be started again') as string });
  });

  it('needs every launcher of the machine to have ended, a migration’s target too', async () => {
    await world.pod('worker-1', 'host-2', 'y');
    await agent.set(target(), 'off');
    await world.kubelet('host-1');
    expect(await read()).toMatchObject({ state: 'pending' });
    await world.kubelet('host-2');
    expect(await read()).toMatchObject({ state: 'off' });
  });

  it('starts it as it ran before, and takes all of its own back', async () => {
    await agent.set(target(), 'off');
    await world.kubelet('host-1');
    await agent.set(target(), 'on');
    const after = await vm();
    expect(after?.spec?.runStrategy).toBe('Always');
    expect(after?.metadata.annotations?.[HALTED_BY_US]).toBeUndefined();
    expect(await world.pods('worker-1'), 'nothing keeps the pod').toEqual([]);
    await world.objects.cluster.remove(VIRTUAL_MACHINE_INSTANCES, 'worker-1', { namespace: NAMESPACE });
    await world.control('host-2');
    expect(await read()).toMatchObject({ state: 'on' });
  });

  it('speaks to an older VirtualMachine in its own words', async () => {
    await world.machine('old', { running: true });
    await world.control();
    const old = target({ plug: 'old', identity: { node: 'old', providerID: 'kubevirt://old' } });
    await agent.set(old, 'off');
    expect((await world.objects.cluster.get(VIRTUAL_MACHINES, 'old', NAMESPACE))?.spec).toMatchObject({ running: false });
    await world.kubelet('host-1');
    await agent.set(old, 'on');
    expect((await world.objects.cluster.get(VIRTUAL_MACHINES, 'old', NAMESPACE))?.spec).toMatchObject({ running: true });
  });

  it('does not start what somebody else has halted', async () => {
    await world.objects.cluster.mergePatch(VIRTUAL_MACHINES, 'worker-1', { spec: { runStrategy: 'Halted' } }, { namespace: NAMESPACE });
    await agent.set(target(), 'off');
    await expect(agent.set(target(), 'on')).rejects.toMatchObject({ kind: 'Refused', message: expect.stringContaining('on purpose') as string });
  });

  it('leaves no witness behind when it may not halt the machine', async () => {
    world.objects.refuse = (path) => path.includes('/virtualmachines/');
    await expect(agent.set(target(), 'off')).rejects.toMatchObject({ kind: 'Refused' });
    expect((await world.pods('worker-1'))[0]?.metadata.finalizers ?? []).toEqual([]);
    expect(world.running.has('worker-1')).toBe(true);
  });

  it('leaves no witness behind when it may not put one on each of its pods', async () => {
    await world.pod('worker-1', 'host-2', 'y');
    world.objects.refuse = (path) => path.endsWith('-y');
    await expect(agent.set(target(), 'off')).rejects.toMatchObject({ kind: 'Refused' });
    expect((await world.pods('worker-1')).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  });

  it.each([
    ['another firmware', { node: 'worker-1', systemUUID: '99999999-0000-4000-8000-00000000abcd' }, /firmware UUID/],
    ['another providerID', { node: 'worker-1', providerID: 'kubevirt://worker-2' }, /the providerID names worker-2/],
  ])('touches no machine with %s', async (_what, identity, words) => {
    await expect(agent.set(target({ identity }), 'off')).rejects.toMatchObject({
      kind: 'Misconfigured',
      message: expect.stringMatching(words) as string,
    });
    expect(world.objects.writes).toEqual([]);
  });

  it('does not take a machine that is not there for one that is off', async () => {
    await expect(agent.read(target({ plug: 'nobody' }))).rejects.toMatchObject({ kind: 'Misconfigured' });
  });

  it('says what is missing', async () => {
    await expect(agent.read(target({ plug: '' }))).rejects.toMatchObject({ message: expect.stringContaining('write vm=') as string });
    expect(kubevirt.check({}, true).map(({ parameter }) => parameter)).toEqual(['namespace']);
  });
});
