import { beforeEach, describe, expect, it } from 'vitest';

import type { Identity, Parameters, PowerAgent, Target } from '../../src/ports/agents.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import type { KubeObject, Node } from '../../src/ports/objects.ts';
import { NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { ObjectWorld } from '../../src/testbed/objects/object-world.ts';
import { metal3 } from './definition.ts';
import { BARE_METAL_HOSTS, HARD, HOLD, RECORD, type BareMetalHost } from './host.ts';
import { reach } from '../../test/reach.ts';

const MACHINES: Resource = { group: 'machine.openshift.io', version: 'v1beta1', kind: 'Machine', plural: 'machines', namespaced: true };
const CAPI_MACHINES: Resource = { group: 'cluster.x-k8s.io', version: 'v1beta1', kind: 'Machine', plural: 'machines', namespaced: true };
const METAL3_MACHINES: Resource = {
  group: 'infrastructure.cluster.x-k8s.io',
  version: 'v1beta1',
  kind: 'Metal3Machine',
  plural: 'metal3machines',
  namespaced: true,
};
const HEALTHY = {
  operationalStatus: 'OK',
  errorType: '',
  errorMessage: '',
  lastUpdated: '2026-01-01T00:00:00Z',
  provisioning: { state: 'provisioned' },
};
const PROVIDED = 'metal3://metal/host-a/machine-a';

describe('metal3', () => {
  let clock: ManualClock;
  let world: ObjectWorld;
  let agent: PowerAgent;

  beforeEach(async () => {
    clock = new ManualClock();
    world = await ObjectWorld.with(clock, [BARE_METAL_HOSTS, MACHINES, CAPI_MACHINES, METAL3_MACHINES], 'metal', reach);
    const created = await metal3.create({ cluster: world.seen, clock });
    if (created.kind !== 'power') throw new Error('not a power agent');
    agent = created;
    await host('host-a');
    await told({ poweredOn: true });
  });

  async function host(name: string, spec: BareMetalHost['spec'] = { online: true, consumerRef: { name: 'machine-a' } }): Promise<void> {
    await world.cluster.create(BARE_METAL_HOSTS, { metadata: { name, namespace: 'metal' }, spec });
  }

  /** The operator writes a status. */
  async function told(status: object): Promise<void> {
    await world.status(BARE_METAL_HOSTS, 'host-a', { ...HEALTHY, ...status }, 'metal');
  }

  async function annotate(annotations: Record<string, string | null>): Promise<void> {
    await world.cluster.mergePatch(BARE_METAL_HOSTS, 'host-a', { metadata: { annotations } }, { namespace: 'metal' });
  }

  async function annotations(): Promise<Record<string, string>> {
    return (await world.cluster.get(BARE_METAL_HOSTS, 'host-a', 'metal'))?.metadata.annotations ?? {};
  }

  function target(change: Partial<Target> & { parameters?: Parameters; identity?: Identity } = {}): Target {
    return {
      plug: '',
      device: 'metal3',
      parameters: {},
      identity: { node: 'worker-1', providerID: PROVIDED },
      signal: new AbortController().signal,
      deadlineMs: 5_000,
      beforeSend: () => undefined,
      ...change,
    };
  }

  it('asks for a hard power-off that lasts, and believes the off that follows', async () => {
    expect(await agent.read(target())).toMatchObject({ state: 'on', identity: 'verified' });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await annotations()).toMatchObject({ [HOLD]: HARD });
    expect(await agent.read(target())).toMatchObject({ state: 'pending' });
    await told({ poweredOn: false, lastUpdated: '2026-01-01T00:01:00Z' });
    expect(await agent.read(target())).toMatchObject({ state: 'off', identity: 'verified', deviceTime: '2026-01-01T00:01:00Z' });
  });

  it.each([
    ['is missing', {}],
    ['is garbled', { [RECORD]: '{"node":"worker-1"}' }],
  ])('believes no off under our hold whose record %s', async (_what, record) => {
    await annotate({ [HOLD]: HARD, ...record });
    await told({ poweredOn: false });
    const reading = await agent.read(target({ incident: 'fence/1' }));
    expect(reading).toMatchObject({ state: 'unknown', detail: expect.stringContaining(RECORD) as string });
  });

  it('sets a hard hold where a soft one of our name stands: a shutdown that the system may ignore holds nothing', async () => {
    await annotate({ [HOLD]: '{"mode":"soft"}', [RECORD]: '{"node":"worker-1","incident":"fence/1","wasOn":true}' });
    await agent.set(target({ incident: 'fence/1' }), 'off');
    expect(await annotations()).toMatchObject({ [HOLD]: HARD });
  });

  it('takes back what it set and nothing else', async () => {
    await annotate({ 'reboot.metal3.io/other': '{"mode":"soft"}', 'example.org/own': 'yes' });
    await agent.set(target(), 'off');
    await told({ poweredOn: false });
    await agent.set(target(), 'on');
    expect(await annotations()).toEqual({ 'reboot.metal3.io/other': '{"mode":"soft"}', 'example.org/own': 'yes' });
    expect((await agent.read(target())).detail).toContain('held off by reboot.metal3.io/other');
  });

  const OTHER = 'reboot.metal3.io/other';

  it('does not call off what nobody holds off: the operator switches it on, whoever had asked for its off before', async () => {
    await agent.set(target({ incident: 'fence/1' }), 'off');
    await told({ poweredOn: false });
    await annotate({ [HOLD]: null, [RECORD]: null });
    const successor = (await metal3.create({ cluster: world.seen, clock })) as PowerAgent;
    const read = (): Promise<unknown> => successor.read(target({ incident: 'fence/1', intent: 'off-1' }));
    expect(await read()).toMatchObject({ state: 'pending', detail: expect.stringContaining('nobody holds it off') as string });
    await annotate({ 'reboot.metal3.io': '' });
    expect(await read(), 'one cycle is no hold').toMatchObject({ state: 'pending' });
    await annotate({ [OTHER]: '{"mode":"hard"}' });
    expect(await read()).toMatchObject({ state: 'off' });
    expect(await successor.read(target({ incident: 'fence/1', isAfterOff: true })), 'it may be older than our request').toMatchObject({
      state: 'pending',
      detail: expect.stringContaining('our request reboot.metal3.io/nodefence is not there') as string,
    });
    await annotate({ [OTHER]: null });
    await world.cluster.mergePatch(BARE_METAL_HOSTS, 'host-a', { spec: { online: false } }, { namespace: 'metal' });
    expect(await read()).toMatchObject({ state: 'off' });
  });

  it('does not believe an off that was told before our request', async () => {
    await told({ poweredOn: false });
    expect(await agent.read(target())).toMatchObject({ state: 'pending' });
    await agent.set(target(), 'off');
    const reading = await agent.read(target());
    expect(reading).toMatchObject({ state: 'unknown' });
    expect(reading.detail).toContain('it was so before our request');
    await told({ poweredOn: true });
    await told({ poweredOn: false });
    expect(await agent.read(target()), 'the record is what it was').toMatchObject({ state: 'unknown' });
  });

  it('does not believe an off while its own request is not to be seen, though somebody else holds it off', async () => {
    await annotate({ [OTHER]: '{"mode":"hard"}' });
    await told({ poweredOn: false });
    world.fault = { status: { code: 500, reason: 'InternalError', message: 'etcd is away' } };
    const failing = agent.set(target(), 'off');
    await expect(failing).rejects.toMatchObject({ kind: 'Unreachable' });
    world.fault = {};
    expect(await agent.read(target())).toMatchObject({ state: 'off' });
    await agent.set(target(), 'off');
    await annotate({ [HOLD]: null, [RECORD]: null });
    expect(await agent.read(target())).toMatchObject({ state: 'pending' });
  });

  it('leaves a hold that stands as it is, with its record', async () => {
    await agent.set(target(), 'off');
    await told({ poweredOn: false });
    const before = await annotations();
    world.writes.length = 0;
    await agent.set(target(), 'off');
    expect(await annotations()).toEqual(before);
    expect(world.writes).toEqual([]);
    expect(await agent.read(target())).toMatchObject({ state: 'off' });
  });

  describe('a hold that an earlier incident left', () => {
    const of = (incident: string): Target => target({ incident });

    beforeEach(async () => {
      await agent.set(of('fence/1'), 'off');
      await told({ poweredOn: false });
      expect(await agent.read(of('fence/1'))).toMatchObject({ state: 'off' });
    });

    it('proves nothing of this one: somebody may have switched the machine on, and the operator be away', async () => {
      const reading = await agent.read(of('fence/2'));
      expect(reading).toMatchObject({ state: 'unknown' });
      expect(reading.detail).toContain('earlier incident');
      await agent.set(of('fence/2'), 'off');
      expect(await agent.read(of('fence/2')), 'nor once it is asked for again').toMatchObject({ state: 'unknown' });
      expect(await agent.read(of('other-fence/1'))).toMatchObject({ state: 'unknown' });
    });

    it('counts anew from what the host shows when this one asks', async () => {
      await told({ poweredOn: true });
      expect(await agent.read(of('fence/2'))).toMatchObject({ state: 'pending' });
      await agent.set(of('fence/2'), 'off');
      await told({ poweredOn: false });
      expect(await agent.read(of('fence/2'))).toMatchObject({ state: 'off' });
      expect(await agent.read(target()), 'nobody asks for a fence: a probe').toMatchObject({ state: 'off' });
    });

    it('stands for every run of its own incident', async () => {
      world.writes.length = 0;
      await agent.set(target({ incident: 'fence/1', intent: 'off-2' }), 'off');
      expect(world.writes).toEqual([]);
      expect(await agent.read(of('fence/1'))).toMatchObject({ state: 'off' });
    });
  });

  it.each([
    ['a power management error', { operationalStatus: 'error', errorType: 'power management error', errorMessage: 'BMC is away' }, 'BMC is away'],
    ['an operator that detached the host', { operationalStatus: 'detached' }, 'operationalStatus=detached'],
    ['a host in inspection', { provisioning: { state: 'inspecting' } }, 'provisioning.state=inspecting'],
    ['no state', { provisioning: {} }, 'provisioning.state=(none)'],
    ['null', { poweredOn: null }, 'poweredOn=(none)'],
    ['a word', { poweredOn: 'off' }, 'poweredOn="off"'],
  ])('calls the power unknown for %s', async (_what, status, words) => {
    await agent.set(target(), 'off');
    await world.cluster.mergePatch(BARE_METAL_HOSTS, 'host-a', { status: { provisioning: null } }, { namespace: 'metal', subresource: 'status' });
    await told({ poweredOn: false, ...status });
    const reading = await agent.read(target());
    expect(reading).toMatchObject({ state: 'unknown' });
    expect(reading.detail).toContain(words);
  });

  it.each([
    ['baremetalhost.metal3.io/paused', 'the operator leaves the host alone'],
    ['baremetalhost.metal3.io/detached', 'the operator leaves the host alone'],
  ])('sends nothing to a host with annotation %s', async (mark, words) => {
    await annotate({ [mark]: '' });
    await expect(agent.set(target(), 'off')).rejects.toMatchObject({ kind: 'Refused', message: expect.stringContaining(words) as string });
    expect(world.writes).toEqual([]);
    expect(await agent.read(target())).toMatchObject({ state: 'unknown' });
  });

  it('sends nothing to a host that is never switched off', async () => {
    await world.cluster.mergePatch(BARE_METAL_HOSTS, 'host-a', { spec: { disablePowerOff: true } }, { namespace: 'metal' });
    await expect(agent.set(target(), 'off')).rejects.toMatchObject({ kind: 'Refused' });
    expect(world.writes).toEqual([]);
  });

  it('says so when somebody has switched the host off on purpose', async () => {
    await agent.set(target(), 'off');
    await world.cluster.mergePatch(BARE_METAL_HOSTS, 'host-a', { spec: { online: false } }, { namespace: 'metal' });
    await expect(agent.set(target(), 'on')).rejects.toMatchObject({
      kind: 'Refused',
      message: expect.stringContaining('spec.online=false') as string,
    });
    expect(await annotations()).toEqual({});
  });

  it('sends nothing without the lease', async () => {
    const beforeSend = (): never => {
      throw new Error('no lease');
    };
    await expect(agent.set(target({ beforeSend }), 'off')).rejects.toThrow('no lease');
    expect(world.writes).toEqual([]);
  });

  it('keeps what the operator writes in between', async () => {
    let isFirst = true;
    const racing = { ...target() };
    racing.beforeSend = () => {
      if (isFirst) void annotate({ 'example.org/late': 'yes' });
      isFirst = false;
    };
    await agent.set(racing, 'off');
    expect(await annotations()).toMatchObject({ [HOLD]: HARD, 'example.org/late': 'yes' });
  });

  describe('finds the host', () => {
    const read = (change: Parameters, identity: Partial<Identity> = {}, plug = '') =>
      agent.read(target({ plug, parameters: change, identity: { node: 'worker-1', ...identity } }));

    it.each([
      ['by namespace and name', { host: 'metal/host-a' }],
      ['by another name of the parameter', { bmh: 'host-a', namespace: 'metal' }],
    ])('%s', async (_how, parameters) => {
      expect(await read(parameters)).toMatchObject({ state: 'on', identity: 'unverified' });
    });

    it('by its uid in an older providerID, and by OpenShift’s', async () => {
      const uid = (await world.cluster.get(BARE_METAL_HOSTS, 'host-a', 'metal'))?.metadata.uid ?? '';
      expect(await read({}, { providerID: `metal3://${uid}` })).toMatchObject({ identity: 'verified' });
      expect(await read({}, { providerID: `baremetalhost:///metal/host-a/${uid}` }, uid)).toMatchObject({ identity: 'verified' });
      await expect(read({}, { providerID: 'baremetalhost:///metal/host-a/0a000000-0000-4000-8000-000000000000' })).rejects.toMatchObject({
        kind: 'Misconfigured',
      });
    });

    it('of several by its own uid, and none where no host has it', async () => {
      await host('a-first', { online: true });
      const uid = (await world.cluster.get(BARE_METAL_HOSTS, 'host-a', 'metal'))?.metadata.uid ?? '';
      await agent.set(target({ identity: { node: 'worker-1', providerID: `metal3://${uid}` } }), 'off');
      expect(await annotations()).toMatchObject({ [HOLD]: HARD });
      const nobody = target({ identity: { node: 'worker-1', providerID: 'metal3://0a000000-0000-4000-8000-000000000000' } });
      await expect(agent.read(nobody)).rejects.toMatchObject({
        kind: 'Misconfigured',
        message: expect.stringContaining('no BareMetalHost') as string,
      });
    });

    it('by the Machine that the Node names', async () => {
      const mine: Node = { metadata: { name: 'worker-1', annotations: { 'machine.openshift.io/machine': 'metal/m' } }, spec: {}, status: {} };
      await world.cluster.create(NODES, mine);
      await world.cluster.create(MACHINES, {
        metadata: { name: 'm', namespace: 'metal', annotations: { 'metal3.io/BareMetalHost': 'metal/host-a' } },
      });
      expect(await read({})).toMatchObject({ state: 'on', identity: 'verified' });
    });

    it('by the Machine of Cluster API and its Metal3Machine', async () => {
      const named = { 'cluster.x-k8s.io/machine': 'm', 'cluster.x-k8s.io/cluster-namespace': 'metal' };
      const mine: Node = { metadata: { name: 'worker-1', annotations: named }, spec: {}, status: {} };
      await world.cluster.create(NODES, mine);
      const spec = { infrastructureRef: { kind: 'Metal3Machine', name: 'machine-a' } };
      await world.cluster.create(CAPI_MACHINES, { metadata: { name: 'm', namespace: 'metal' }, spec } as KubeObject);
      const claimed = { name: 'machine-a', namespace: 'metal', annotations: { 'metal3.io/BareMetalHost': 'metal/host-a' } };
      await world.cluster.create(METAL3_MACHINES, { metadata: claimed });
      expect(await read({})).toMatchObject({ state: 'on', identity: 'verified' });
    });

    it('never acts on one that the Node’s own records contradict', async () => {
      await host('host-b', { online: true });
      const wrong = target({ plug: 'metal/host-b' });
      await expect(agent.set(wrong, 'off')).rejects.toMatchObject({
        kind: 'Misconfigured',
        message: expect.stringContaining('another machine') as string,
      });
      const reused = target({ identity: { node: 'worker-1', providerID: 'metal3://metal/host-a/machine-of-yesterday' } });
      await expect(agent.set(reused, 'off')).rejects.toMatchObject({
        kind: 'Misconfigured',
        message: expect.stringContaining('machine-of-yesterday') as string,
      });
      expect(world.writes).toEqual([]);
    });

    it('or says what is missing', async () => {
      await expect(read({})).rejects.toMatchObject({ message: expect.stringContaining('write host=') as string });
      await expect(read({ host: 'host-a' })).rejects.toMatchObject({ message: expect.stringContaining('write its namespace') as string });
      await expect(read({ host: 'metal/none' })).rejects.toMatchObject({ message: expect.stringContaining('there is no BareMetalHost') as string });
    });
  });

  it('reaches the hosts of another cluster, and lets go of it in the end', async () => {
    let closed = 0;
    const there = await metal3.create({
      cluster: (await ObjectWorld.with(clock, [], 'metal', reach)).cluster,
      clock,
      connect: (text) => {
        if (text !== 'a kubeconfig') return Promise.reject(new Error('kubeconfig (parameter): is not YAML'));
        return Promise.resolve(Object.assign(world.seen, { close: () => void (closed += 1) }));
      },
    });
    if (there.kind !== 'power') throw new Error('not a power agent');
    expect(await there.read(target({ parameters: { kubeconfig: 'a kubeconfig' } }))).toMatchObject({ state: 'on' });
    await expect(there.read(target({ parameters: { kubeconfig: '{' } }))).rejects.toMatchObject({ kind: 'Misconfigured' });
    await there.close?.();
    expect(closed).toBe(1);
  });
});
