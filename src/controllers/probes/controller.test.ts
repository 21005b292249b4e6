import { describe, expect, it } from 'vitest';
import { method, planOf } from '../../domain/testing/model.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { ProbeAnswer, ProbeRequest, ShownTrust } from '../../ports/probes.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeLister, nodeOf, provenStatus } from '../fence/testing/harness.ts';
import { ProbeController } from './controller.ts';
import { QUIET } from './testing/quiet.ts';

const WELL: ProbeAnswer = { state: 'on', identity: 'verified', detail: 'PowerState=On', latencyMs: 1 };
const DEAD: ProbeAnswer = { error: 'Unreachable: no answer', latencyMs: 8_000 };
const INTERVAL_MS = 600_000;

/** A fleet whose BMCs say what the test says. */
class Fleet {
  readonly clock = new ManualClock();
  readonly nodes = new FakeLister<Node>();
  readonly fences = new FakeLister<NodeFence>();
  readonly reports = new FakeLister<NodeFenceReport>();
  readonly warmed: string[] = [];
  readonly reads: { node: string; atMs: number; request: ProbeRequest }[] = [];
  readonly events: string[] = [];
  readonly shown = new Map<string, number>();
  writes = 0;
  isLeading = true;
  intervalMs: number | undefined;
  trust: () => ShownTrust = () => ({ kind: 'not-asked' });
  answer: (node: string) => Promise<ProbeAnswer | undefined> = () => Promise.resolve(WELL);
  readonly controller: ProbeController;

  constructor(names: readonly string[] = ['a'], mode: 'observe' | 'enforce' = 'enforce') {
    this.nodes.items = names.map((name) => named(name));
    const bmc = (name: string) => method('off', 'redfish', 'off', { device: `bmc-${name}` });
    const isLeading = (): boolean => this.isLeading;
    this.controller = new ProbeController({
      ...QUIET,
      clock: this.clock,
      cluster: this.#cluster(),
      listers: this,
      planner: {
        planFor: ({ metadata: { name } }) =>
          planOf({
            powerManagement: [{ level: 1, methods: [bmc(name), { ...bmc(name), name: 'on', action: 'on' }] }],
            ...(this.intervalMs === undefined ? {} : { probeIntervalMs: this.intervalMs }),
          }),
        parametersFor: () => Promise.resolve({}),
      },
      prober: {
        trustShown: () => Promise.resolve(this.trust()),
        warm: ({ method: { device } }) => Promise.resolve(void this.warmed.push(device)),
        probe: (request) => {
          this.reads.push({ node: request.identity.node, atMs: this.clock.monotonicMs(), request });
          return this.answer(request.identity.node);
        },
      },
      leadership: {
        get isLeading() {
          return isLeading();
        },
      },
      recorder: { event: (about, _type, reason, message) => this.events.push(`${about.metadata.name} ${reason}: ${message}`) },
      metrics: {
        devices: (agent, { reachable, unreachable }) => this.shown.set(`${agent} reachable`, reachable).set(`${agent} unreachable`, unreachable),
        strangers: (agent, count) => this.shown.set(`${agent} strangers`, count),
        oldestProbe: (agent, ageMs) => this.shown.set(`${agent} age`, ageMs ?? Number.NaN).set('times', (this.shown.get('times') ?? 0) + 1),
        credentialExpiry: (agent, remainingMs) => this.shown.set(`${agent} expiry`, remainingMs ?? Number.NaN),
      },
      options: { mode },
    });
    this.controller.start();
  }

  status(name = 'a'): NonNullable<NodeFenceReport['status']> {
    return this.reports.get(name)?.status ?? {};
  }

  #cluster(): Cluster {
    const none = (): Promise<never> => Promise.reject(new Error('not in this test'));
    const keep = (report: NodeFenceReport): Promise<never> => {
      this.reports.items = [...this.reports.items.filter(({ metadata }) => metadata.name !== report.metadata.name), report];
      return Promise.resolve(report as never);
    };
    return {
      get: () => Promise.resolve(undefined),
      list: none,
      create: (_resource, object) => keep(object),
      replace: none,
      replaceStatus: (_resource, object) => {
        this.writes += 1;
        return keep(object);
      },
      mergePatch: none,
      remove: none,
      evict: none,
    };
  }
}

function named(name: string): Node {
  const node = nodeOf({ ready: 'True' });
  return { ...node, metadata: { ...node.metadata, name, uid: `uid-${name}` } };
}

const FLEET = Array.from({ length: 100 }, (_, index) => `node-${index}`);

describe('probes', () => {
  it('read every plug once in each interval, off and on of one plug by one read, spread over the interval', async () => {
    const fleet = new Fleet(FLEET);
    await fleet.clock.advance(INTERVAL_MS + 2_000);
    expect(new Set(fleet.reads.map(({ node }) => node)).size).toBe(100);
    const minutes = new Map<number, number>();
    for (const { atMs } of fleet.reads)
      minutes.set(Math.floor((atMs - 1_000_000) / 60_000), (minutes.get(Math.floor((atMs - 1_000_000) / 60_000)) ?? 0) + 1);
    expect(Math.max(...minutes.values())).toBeLessThan(30);
    fleet.reads.length = 0;
    await fleet.clock.advance(INTERVAL_MS);
    expect(fleet.reads.length).toBeGreaterThanOrEqual(98);
    expect(fleet.reads.length).toBeLessThanOrEqual(102);
    await fleet.controller.close();
  });

  it('read a broken path again as soon as the configuration has changed, and only that', async () => {
    const fleet = new Fleet(['a', 'b']);
    fleet.answer = (node) => Promise.resolve(node === 'a' ? DEAD : WELL);
    await fleet.clock.advance(INTERVAL_MS + 60_000);
    expect(fleet.events).toContainEqual(expect.stringContaining('a FencePathBroken'));
    fleet.answer = () => Promise.resolve(WELL);
    fleet.reads.length = 0;
    fleet.controller.configurationChanged();
    await fleet.clock.advance(2_000);
    expect(fleet.reads.map(({ node }) => node)).toEqual(['a']);
    expect(fleet.events).toContainEqual(expect.stringContaining('a FencePathRecovered'));
    await fleet.controller.close();
  });

  it('ask with the identity that was recorded while the node was healthy', async () => {
    const fleet = new Fleet();
    fleet.reports.items = [{ metadata: { name: 'a' }, status: { identity: { nodeUID: 'uid-a', systemUUID: 'recorded', recordedAt: 'then' } } }];
    await fleet.clock.advance(INTERVAL_MS + 2_000);
    expect(fleet.reads[0]?.request.identity.systemUUID).toBe('recorded');
    await fleet.controller.close();
  });

  it('never have more than 16 reads under way, whatever hangs', async () => {
    const fleet = new Fleet(FLEET);
    fleet.intervalMs = 10_000;
    fleet.answer = () => new Promise(() => undefined);
    await fleet.clock.advance(60_000);
    expect(fleet.reads).toHaveLength(16);
  });

  it('are the leader’s alone, and leave a node alone that is being fenced', async () => {
    const [fleet, calls] = [new Fleet(), [] as string[]];
    Object.assign(fleet, { isLeading: false, trust: () => ({ kind: 'not-asked', calls: calls.push('looked at') }) });
    await fleet.clock.advance(2 * INTERVAL_MS);
    expect([fleet.reads, calls]).toEqual([[], []]);
    fleet.isLeading = true;
    fleet.fences.items = [{ metadata: { name: 'node-fence-a' }, spec: { node: 'a' }, status: { state: 'running' } as NodeFence['status'] & object }];
    await fleet.clock.advance(2 * INTERVAL_MS);
    expect(fleet.reads).toEqual([]);
    fleet.fences.items = [{ metadata: { name: 'node-fence-a' }, spec: { node: 'a' }, status: { state: 'final' } as NodeFence['status'] & object }];
    await fleet.clock.advance(2_000);
    expect(fleet.reads).toHaveLength(1);
    await fleet.controller.close();
  });

  it('tell once that a path is broken, after a second look half a minute later, and once that it is healed', async () => {
    const fleet = new Fleet();
    await fleet.clock.advance(INTERVAL_MS + 2_000);
    expect(fleet.status()).toMatchObject({ devices: [{ agent: 'redfish', device: 'bmc-a', methods: ['off', 'on'], path: 'working' }] });
    expect(fleet.events).toEqual([]);
    fleet.answer = () => Promise.resolve(DEAD);
    await fleet.clock.advance(3 * INTERVAL_MS);
    expect(fleet.events).toEqual(['a FencePathBroken: A fence could not use redfish bmc-a (off, on): Unreachable: no answer']);
    expect(fleet.status().devices?.[0]).toMatchObject({ path: 'broken', message: 'Unreachable: no answer' });
    expect(fleet.status().conditions).toMatchObject([{ type: 'FencePathsWorking', status: 'False', reason: 'DeviceUnusable' }]);
    expect([fleet.shown.get('redfish reachable'), fleet.shown.get('redfish unreachable')]).toEqual([0, 1]);
    fleet.answer = () => Promise.resolve(WELL);
    await fleet.clock.advance(3 * INTERVAL_MS);
    expect(fleet.events.slice(1)).toEqual(['a FencePathRecovered: redfish bmc-a (off, on) can be used again.']);
    expect(fleet.status().conditions).toMatchObject([{ type: 'FencePathsWorking', status: 'True' }]);
    await fleet.controller.close();
  });

  it('is counted among all paths every few seconds, and not with each tick: there are thousands', async () => {
    const fleet = new Fleet(['a', 'b']);
    await fleet.clock.advance(60_000);
    expect(fleet.shown.get('times')).toBe(12);
    await fleet.controller.close();
  });

  it('take one lost answer for nothing', async () => {
    const fleet = new Fleet();
    let reads = 0;
    fleet.answer = () => Promise.resolve((reads += 1) % 2 === 1 ? DEAD : WELL);
    await fleet.clock.advance(6 * INTERVAL_MS);
    expect(reads).toBeGreaterThan(8);
    expect(fleet.events).toEqual([]);
    await fleet.controller.close();
  });

  it('do not tell again what a leader before has told, and write the report only when it changes', async () => {
    const first = new Fleet();
    first.answer = () => Promise.resolve(DEAD);
    await first.clock.advance(4 * INTERVAL_MS);
    expect(first.writes).toBe(1);
    const second = new Fleet();
    second.reports.items = first.reports.items;
    second.answer = () => Promise.resolve(DEAD);
    await second.clock.advance(4 * INTERVAL_MS);
    expect(second.events).toEqual([]);
    expect(second.writes).toBe(0);
    await Promise.all([first.controller.close(), second.controller.close()]);
  });

  it.each<[string, ProbeAnswer, RegExp]>([
    ['reads off while its node is Ready', { ...WELL, state: 'off', detail: 'PowerState=Off' }, /it switches another machine/u],
    ['answers in no known word', { ...WELL, state: 'unknown', detail: 'PowerState=null' }, /PowerState=null/u],
    ['does not show whose machine it is', { ...WELL, identity: 'unverified' }, /identity=unverified/u],
    [
      'would refuse to be switched',
      { ...WELL, wouldRefuse: 'ec2:StopInstances is missing' },
      /would refuse to be switched: ec2:StopInstances is missing/u,
    ],
    ['is not all that feeds its machine', { ...WELL, overlooked: 'outlet 2 is named "a" as well' }, /is not all that feeds the machine: outlet 2/u],
  ])('take a device for broken that %s', async (_what, answer, words) => {
    const fleet = new Fleet();
    fleet.answer = () => Promise.resolve(answer);
    await fleet.clock.advance(2 * INTERVAL_MS);
    expect(fleet.events.join()).toMatch(words);
    await fleet.controller.close();
  });

  it('know nothing of a device that was busy, and come back soon', async () => {
    const fleet = new Fleet();
    fleet.answer = () => Promise.resolve(undefined);
    await fleet.clock.advance(2 * INTERVAL_MS);
    expect(fleet.reads.length).toBeGreaterThan(20);
    expect(fleet.events).toEqual([]);
    expect(fleet.status().devices).toBeUndefined();
    await fleet.controller.close();
  });

  it('warn once of a certificate that ends within three weeks, and show the time that is left', async () => {
    const fleet = new Fleet();
    const endsInMs = 10 * 86_400_000;
    const certificateExpiresAt = new Date(fleet.clock.wallMs() + endsInMs).toISOString();
    fleet.answer = () => Promise.resolve({ ...WELL, certificateExpiresAt });
    await fleet.clock.advance(4 * INTERVAL_MS);
    expect(fleet.events).toHaveLength(1);
    expect(fleet.events[0]).toContain(
      `FenceCredentialExpiring: The certificate or credential of redfish bmc-a (off, on) ends at ${certificateExpiresAt}`,
    );
    expect(fleet.shown.get('redfish expiry')).toBeLessThan(endsInMs);
    await fleet.controller.close();
  });

  it('forget devices that the configuration names no more', async () => {
    const fleet = new Fleet();
    const gone = { agent: 'ipmi', device: 'old', plug: '', methods: ['off'], path: 'broken' as const, message: 'dead', since: 'then' };
    fleet.reports.items = [{ metadata: { name: 'a' }, status: { devices: [gone] } }];
    await fleet.clock.advance(INTERVAL_MS + 2_000);
    expect(fleet.status().devices?.map(({ device }) => device)).toEqual(['bmc-a']);
    await fleet.controller.close();
  });

  it('tell nothing of what a device showed while its node began to be fenced', async () => {
    const fleet = new Fleet();
    fleet.answer = () => {
      fleet.fences.items = [{ metadata: { name: 'node-fence-a' }, spec: { node: 'a' }, status: { state: 'new' } } as unknown as NodeFence];
      return Promise.resolve(WELL);
    };
    await fleet.clock.advance(2 * INTERVAL_MS);
    expect([fleet.reads.length, fleet.status()]).toEqual([1, {}]);
  });

  it('write nothing of what was read for a replica that has lost its Lease meanwhile', async () => {
    const fleet = new Fleet();
    fleet.answer = () => {
      fleet.isLeading = false;
      return Promise.resolve(WELL);
    };
    await fleet.clock.advance(2 * INTERVAL_MS);
    expect([fleet.reads.length, fleet.status()]).toEqual([1, {}]);
  });

  it('do not take a path that a leader before found broken for working until it was read anew', async () => {
    const before = new Fleet();
    before.answer = () => Promise.resolve(DEAD);
    await before.clock.advance(2 * INTERVAL_MS);
    await before.controller.close();
    const after = new Fleet();
    after.reports.items = before.reports.items;
    await after.clock.advance(2_000);
    expect([after.shown.get('redfish reachable'), after.shown.get('redfish unreachable')]).toEqual([0, 1]);
  });

  it('end at once, with nothing armed', async () => {
    const fleet = new Fleet();
    await fleet.clock.advance(5_000);
    await fleet.controller.close();
    expect(fleet.clock.pending).toBe(0);
  });
});

describe('a device that is trusted by what it first showed', () => {
  const shows = (shown: string, accepted: readonly string[] = []): ShownTrust => ({ kind: 'shown', shown, accepted });

  it('is recorded before anybody logs in, told, and read then', async () => {
    const fleet = new Fleet();
    fleet.trust = () => shows('one');
    let recordedBefore: string | undefined;
    fleet.answer = () => {
      recordedBefore ??= fleet.status().trusted?.[0]?.shown;
      return Promise.resolve(WELL);
    };
    await fleet.clock.advance(INTERVAL_MS + 2_000);
    expect(recordedBefore).toBe('one');
    expect(fleet.status().trusted).toMatchObject([{ device: 'bmc-a', shown: 'one' }]);
    expect(fleet.events).toEqual([expect.stringContaining('a DeviceTrusted: redfish bmc-a shows one, seen for the first time')]);
    await fleet.clock.advance(3 * INTERVAL_MS);
    expect(fleet.events).toHaveLength(1);
    await fleet.controller.close();
  });

  it('that shows something else is not read any more, and alarms at once: Event, report and metric', async () => {
    const fleet = new Fleet();
    fleet.trust = () => shows('one');
    await fleet.clock.advance(INTERVAL_MS + 2_000);
    fleet.trust = () => shows('two');
    fleet.reads.length = 0;
    await fleet.clock.advance(INTERVAL_MS);
    expect(fleet.reads).toEqual([]);
    const changed = fleet.events.filter((event) => event.includes('DeviceIdentityChanged'));
    expect(changed).toEqual([expect.stringContaining('it shows two, and not one, which is on record since')]);
    expect(changed[0]).toContain('write accept_fingerprint=two into its method or template');
    expect(fleet.status().devices?.[0]).toMatchObject({ path: 'broken', message: expect.stringContaining('it shows two') as string });
    expect(fleet.shown.get('redfish strangers')).toBe(1);
    expect(fleet.status().trusted).toMatchObject([{ shown: 'one' }]);
    await fleet.clock.advance(3 * INTERVAL_MS);
    expect(fleet.events.filter((event) => event.includes('DeviceIdentityChanged'))).toHaveLength(1);
    await fleet.controller.close();
  });

  it('is trusted anew once the configuration accepts exactly that', async () => {
    const fleet = new Fleet();
    fleet.trust = () => shows('one');
    await fleet.clock.advance(INTERVAL_MS + 2_000);
    fleet.trust = () => shows('two', ['three']);
    await fleet.clock.advance(INTERVAL_MS);
    expect(fleet.status().trusted).toMatchObject([{ shown: 'one' }]);
    fleet.trust = () => shows('two', ['three', 'two']);
    fleet.controller.configurationChanged();
    await fleet.clock.advance(6_000);
    expect(fleet.status().trusted).toMatchObject([{ shown: 'two' }]);
    expect(fleet.events).toContainEqual(expect.stringContaining('which the configuration accepts in the place of one'));
    expect(fleet.shown.get('redfish strangers')).toBe(0);
    await fleet.controller.close();
  });

  it('is not recorded while its node is not Ready, nor once a fence of it was opened meanwhile', async () => {
    const fleet = new Fleet();
    fleet.trust = () => shows('one');
    fleet.nodes.items = fleet.nodes.items.map((node) => ({ ...node, status: { ...node.status, conditions: [{ type: 'Ready', status: 'False' }] } }));
    await fleet.clock.advance(2 * INTERVAL_MS);
    expect([fleet.status().trusted, fleet.reads]).toEqual([undefined, []]);
    fleet.nodes.items = [named('a')];
    fleet.trust = () => {
      fleet.fences.items = [
        { metadata: { name: 'node-fence-a' }, spec: { node: 'a' }, status: { state: 'running' } as NodeFence['status'] & object },
      ];
      return shows('one');
    };
    await fleet.clock.advance(2 * INTERVAL_MS);
    expect([fleet.status().trusted, fleet.reads]).toEqual([undefined, []]);
    await fleet.controller.close();
  });
});

describe('connections', () => {
  it('are opened before the first off of a fence, of its node alone, every half minute; by the leader, and where something is switched', async () => {
    for (const [mode, isLeading, warmed] of [
      ['enforce', true, ['bmc-a', 'bmc-a']],
      ['enforce', false, []],
      ['observe', true, []],
    ] as const) {
      const fleet = new Fleet(['a', 'b'], mode);
      await fleet.clock.advance(2_000);
      const noticedAt = new Date(fleet.clock.wallMs() - planOf().timing.powerManagementDelayMs).toISOString();
      const status = { ...provenStatus(planOf()), state: 'new' as const, timeline: { noticedAt } };
      fleet.fences.items = [{ metadata: { name: 'node-fence-a' }, spec: { node: 'a' }, status }];
      fleet.isLeading = isLeading;
      await fleet.clock.advance(35_000);
      expect(fleet.warmed).toEqual(warmed);
      await fleet.controller.close();
    }
  });
});
