import { afterEach, describe, expect, it } from 'vitest';
import { decide } from '../../src/controllers/machine-remediation/decide.ts';
import { HOLD, MARKS, POWERED_OFF, TIMES_OUT_AT } from '../../src/controllers/machine-remediation/names.ts';
import { OFF_REQUESTED } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import { HOSTS_NAMESPACE } from '../../src/testbed/operators/host-fleet.ts';
import { ShellWorld } from './shell-world.ts';
import { EPOCH_MS, machine, MINUTE_MS, node, SECOND_MS, World } from './world.ts';

const METAL3_MACHINES: Resource = {
  group: 'infrastructure.cluster.x-k8s.io',
  version: 'v1beta1',
  kind: 'Metal3Machine',
  plural: 'metal3machines',
  namespaced: true,
};
const KEPT = 'Machine machines/m: its node did not come back in time, and the Machine may not be replaced';

/** Everything of ours that still stands anywhere. */
function leftovers(world: World): string[] {
  const own = MARKS.filter((key) => world.machine?.annotations[key] !== undefined);
  return [...own, ...[HOLD, OFF_REQUESTED].filter((key) => world.operator.annotations[key] !== undefined)];
}

/** Off, its Node deleted, and not switched on yet. */
function marked(): World {
  const world = new World();
  for (let round = 0; world.machine?.annotations[POWERED_OFF] === undefined; round += 1) {
    if (round > 100) throw new Error('it is never marked');
    if (world.step(1) === 0) world.pass(5_000);
  }
  return world;
}

/** Its host goes off for it. */
function held(): World {
  const world = new World();
  world.step();
  world.pass(MINUTE_MS);
  return world;
}

describe('a Node that does not come back', () => {
  it.each([
    ['somebody else holds off', { 'reboot.metal3.io/firmware': '' }],
    ['its operator was told to leave alone', { 'baremetalhost.metal3.io/paused': '' }],
  ])('on a host that %s has its whole time when that is over: its Machine is not deleted meanwhile', (_what, marks) => {
    const world = marked();
    const before = world.operator.annotations;
    world.operator.annotate({ ...before, ...marks });
    world.run(120 * MINUTE_MS);
    expect(world.machine).toBeDefined();
    expect(world.operator.isOn).toBe(false);
    expect([...world.problems].join()).toContain('BareMetalHost host is waited for: ');
    world.operator.annotate({});
    world.run(10 * MINUTE_MS);
    expect(world.kinds().at(-1)).toBe('Remediated');
    expect(leftovers(world)).toEqual([]);
  });

  it('on a host that was switched off on purpose meanwhile is not late either', () => {
    const world = marked();
    world.operator.isOnline = false;
    world.run(120 * MINUTE_MS);
    expect(world.machine).toBeDefined();
    expect([...world.problems].join()).toContain('BareMetalHost host is waited for: spec.online=false');
  });

  it('keeps its Machine where its health check gives a node all the time that it likes, and a person is told', () => {
    const world = new World();
    world.isBroken = true;
    world.healthChecks = [{ name: 'check', namespace: 'machines', selector: {}, nodeStartupTimeoutMs: 0 }];
    world.run(60 * MINUTE_MS);
    expect(world.machine).toBeDefined();
    expect([...world.problems]).toContain(KEPT);
  });

  it.each([
    ['another Cluster', { 'cluster.x-k8s.io/cluster-name': 'theirs' }, 20],
    ['its own Cluster', { 'cluster.x-k8s.io/cluster-name': 'ours' }, 5],
  ])('has the time of a health check of %s', (_what, labels, minutes) => {
    const world = new World({ machine: machine({ labels }) });
    world.isBroken = true;
    world.healthChecks = [{ name: 'check', namespace: 'machines', selector: {}, clusterName: 'ours', nodeStartupTimeoutMs: 5 * MINUTE_MS }];
    world.run((minutes + 3) * MINUTE_MS);
    expect(world.machine).toBeUndefined();
    const until = world.done.flatMap((action) => (action.kind === 'annotate' ? action.changes : [])).find(({ key }) => key === TIMES_OUT_AT)?.to;
    expect(Date.parse(until ?? '') - EPOCH_MS).toBeGreaterThan(minutes * MINUTE_MS);
  });
});

describe('a host that is off for a Machine', () => {
  it('is let on where it belongs to nobody, or the Machine does not name it any more', () => {
    const { host, ...snapshot } = held().snapshot();
    if (host === undefined) throw new Error('it has a host');
    const { consumer: _consumer, ...nobodys } = host;
    const letOn = { kind: 'annotate', target: { kind: 'BareMetalHost' }, event: { reason: 'PowerOnRequested' } };
    expect(decide({ ...snapshot, host: nobodys }).actions).toMatchObject([letOn]);
    expect(decide({ ...snapshot, leftHost: host }).actions).toMatchObject([letOn]);
    expect(decide({ ...snapshot, host, node: node({ providerID: 'baremetalhost:///metal/other/x' }) }).actions).toMatchObject([letOn]);
  });

  it('and is another’s by now stays as it is, loudly: the hold may be that one’s', () => {
    const { host, ...snapshot } = held().snapshot();
    if (host === undefined) throw new Error('it has a host');
    const decision = decide({ ...snapshot, host: { ...host, consumer: { kind: 'Machine', name: 'new', namespace: 'machines' } } });
    expect(decision.actions).toEqual([]);
    expect(decision.problems.join()).toContain('LeftOff: BareMetalHost host is held off, and nothing is done: BareMetalHost metal/host belongs to');
  });
});

describe('a host that is off for a Machine, with its controller', { timeout: 60_000 }, () => {
  let world: ShellWorld;

  afterEach(async () => {
    await world.end();
  });

  it('is switched on again when the Metal3Machine that named it is gone', async () => {
    world = await ShellWorld.create();
    world.start();
    await world.pass(30 * SECOND_MS);
    world.hardware('n1').isBroken = true;
    await world.pass(MINUTE_MS);
    await world.ask('n1');
    for (let tries = 0; tries < 60 && world.hardware('n1').isOn; tries += 1) await world.pass(SECOND_MS);
    expect(world.hardware('n1').isOn).toBe(false);
    await world.operator.remove(METAL3_MACHINES, 'metal-n1', { namespace: HOSTS_NAMESPACE });
    await world.pass(2 * MINUTE_MS);
    expect([(await world.host('n1'))?.metadata.annotations?.[HOLD], world.hardware('n1').isOn]).toEqual([undefined, true]);
  });
});
