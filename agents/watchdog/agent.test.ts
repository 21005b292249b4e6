import { beforeEach, describe, expect, it } from 'vitest';

import type { ActionAgent, Outcome, Target } from '../../src/ports/agents.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import type { KubeObject, Lease } from '../../src/ports/objects.ts';
import { NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { ATTESTATION, GRANTS_ENDED } from '../../src/domain/node-daemon/attestation.ts';
import type { EndingCall, NodeDaemons } from '../../src/ports/node-daemons.ts';
import { watchdog } from './definition.ts';

const UUID = '1e2d3c4b-0000-4000-8000-00000000abcd';
const ATTESTED = {
  bootID: 'boot-1',
  systemUUID: UUID,
  watchdog: { state: 'armed', kind: 'hardware', action: 'reset', isPausable: false, timeoutMs: 10_000 },
  selfFence: { grantMs: 5_000, isolationTimeoutMs: 40_000, podStopMaxMs: 30_000, resetTimeMs: 10_000 },
};
const ENDED = { bootID: 'boot-1', eligible: ['peer-1', 'peer-2'], promised: ['peer-2', 'peer-1'] };

describe('watchdog', () => {
  let clock: ManualClock;
  let node: KubeObject | undefined;
  let attested: Lease | undefined;
  let kubelet: Lease | undefined;
  let agent: ActionAgent;
  let daemons: NodeDaemons | undefined;
  let seenEnded: string[];
  let heard: (bootID: string) => boolean;
  let clockDoubt: NodeDaemons['clockDoubt'];

  beforeEach(async () => {
    clock = new ManualClock();
    daemons = undefined;
    seenEnded = [];
    heard = () => false;
    clockDoubt = () => undefined;
    node = { metadata: { name: 'worker-1' }, status: { nodeInfo: { bootID: 'boot-1' } } } as KubeObject;
    attest();
    kubelet = { metadata: { name: 'worker-1' }, spec: { renewTime: '2026-01-01T00:00:20.000000Z' } };
    agent = await fresh();
  });

  async function fresh(): Promise<ActionAgent> {
    const cluster: Partial<Cluster> = {
      get: <T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string) => {
        if (resource.plural === NODES.plural) return Promise.resolve(node as T | undefined);
        if (name === 'nodefence-node-worker-1' && namespace === 'fences') return Promise.resolve(attested as T | undefined);
        return Promise.resolve((namespace === 'kube-node-lease' ? kubelet : undefined) as T | undefined);
      },
    };
    const made = await watchdog.create({ cluster: cluster as Cluster, clock, namespace: 'fences', ...(daemons === undefined ? {} : { daemons }) });
    if (made.kind !== 'action') throw new Error('not an action');
    return made;
  }

  function attest(attestation: unknown = ATTESTED, ended: unknown = ENDED, renewTime = '2026-01-01T00:00:00.000000Z'): void {
    const annotations = { [ATTESTATION]: JSON.stringify(attestation), ...(ended === null ? {} : { [GRANTS_ENDED]: JSON.stringify(ended) }) };
    attested = { metadata: { name: 'nodefence-node-worker-1', annotations }, spec: { renewTime } };
  }

  function target(change: Partial<Target> = {}): Target {
    return {
      plug: '',
      device: '',
      parameters: {},
      identity: { node: 'worker-1', systemUUID: UUID },
      signal: new AbortController().signal,
      deadlineMs: 300_000,
      beforeSend: () => undefined,
      ...change,
    };
  }

  async function run(
    change: Partial<Target> = {},
    meanwhile: (seconds: number) => void = () => undefined,
  ): Promise<{ seconds: number; outcome: Outcome }> {
    const state = { isOver: false };
    const beganAtMs = clock.monotonicMs();
    const watched = agent.run(target(change)).finally(() => {
      state.isOver = true;
    });
    watched.catch(() => undefined);
    for (let seconds = 0; !state.isOver && seconds < 1_000; seconds += 1) {
      meanwhile(seconds);
      await clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const outcome = await watched;
    return { seconds: (clock.monotonicMs() - beganAtMs) / 1000, outcome };
  }

  it('proves after everything that may keep the machine running has surely ended', async () => {
    const { seconds, outcome } = await run();
    expect(outcome.evidence).toEqual({ kind: 'watchdog', grade: 'inferred' });
    // 1.01 / 0.99 · (5 + 40 + 30 + 10 + 10) + 3 = 99.92 s, looked at every 2 s.
    expect(seconds).toBeGreaterThanOrEqual(99.919);
    expect(seconds).toBeLessThan(103);
    expect(await agent.confirm(target())).toBe(true);
  });

  it('goes on waiting in the next run, and begins anew after a restart', async () => {
    await expect(run({ deadlineMs: 60_000 })).rejects.toMatchObject({ kind: 'Timeout' });
    expect((await run()).seconds).toBeLessThan(50);
    agent = await fresh();
    expect(await agent.confirm(target())).toBe(false);
    expect((await run()).seconds).toBeGreaterThan(98);
  });

  it('waits for a peer that the node attested, though whoever ended the grants left it out', async () => {
    attest({ ...ATTESTED, peers: ['peer-1', 'peer-3'] });
    await expect(run()).rejects.toThrow('1 of 3 peers have not promised to vouch no more: peer-3');
  });

  it.each([
    [{ ...ATTESTED, watchdog: undefined }, 'has no watchdog'],
    [{ ...ATTESTED, selfFence: undefined }, 'does not fence itself'],
    [{ ...ATTESTED, selfFence: { ...ATTESTED.selfFence, grantMs: 0 } }, 'not whole'],
    [{ ...ATTESTED, watchdog: { ...ATTESTED.watchdog, timeoutMs: '10s' } }, 'not whole'],
    [{ ...ATTESTED, peers: 'all' }, 'not whole'],
  ])('refuses an attestation without its parts: %j', async (attestation, words) => {
    attest(attestation);
    await expect(run()).rejects.toThrow(words);
  });

  it.each(['attestation', 'kubelet'] as const)('begins anew when a sign of life comes from the %s', async (who) => {
    const { seconds } = await run({}, (over) => {
      if (over !== 50) return;
      if (who === 'kubelet') kubelet = { metadata: { name: 'worker-1' }, spec: { renewTime: '2026-01-01T00:00:30.000000Z' } };
      else attest(ATTESTED, ENDED, '2026-01-01T00:00:05.000000Z');
    });
    expect(seconds).toBeGreaterThan(148);
  });

  it('begins anew when grants began and ended again while nobody looked, though no kubelet renewed anything', async () => {
    const written = (resourceVersion: string): void => {
      attest();
      if (attested !== undefined) attested.metadata.resourceVersion = resourceVersion;
    };
    written('10');
    expect(await agent.confirm(target())).toBe(false);
    await clock.advance(600_000);
    written('12');
    expect(await agent.confirm(target()), 'peers may have kept it alive until a moment ago').toBe(false);
    expect((await run()).seconds).toBeGreaterThan(98);
  });

  it('waits until every peer has promised', async () => {
    attest(ATTESTED, { ...ENDED, promised: ['peer-1'] });
    await expect(run({ deadlineMs: 30_000 })).rejects.toMatchObject({ kind: 'Timeout', message: expect.stringContaining('peer-2') as string });
    const { seconds } = await run({}, (over) => {
      if (over === 20) attest();
    });
    expect(seconds).toBeGreaterThan(118);
  });

  it('waits for no peer without which the node goes down, by the failure domains that it attests', async () => {
    const domains = { 'worker-1': 'rack-1', 'peer-1': 'rack-1', 'peer-2': 'rack-2', 'peer-3': 'rack-3' };
    const attestation = { ...ATTESTED, peers: ['peer-1', 'peer-2', 'peer-3'], domains };
    const eligible = attestation.peers;
    attest(attestation, { ...ENDED, eligible, promised: ['peer-2'] });
    await expect(run({ deadlineMs: 30_000 })).rejects.toMatchObject({
      message: expect.stringContaining(
        '2 of 3 peers have not promised to vouch no more, and they are enough to keep the node up: peer-1, peer-3',
      ) as string,
    });
    attest(attestation, { ...ENDED, eligible, promised: ['peer-2', 'peer-3'] });
    expect((await run()).seconds).toBeGreaterThan(98);
    attest({ ...attestation, domains: undefined }, { ...ENDED, eligible, promised: ['peer-2', 'peer-3'] });
    await expect(run({ deadlineMs: 30_000 })).rejects.toThrow('1 of 3 peers have not promised to vouch no more: peer-1');
  });

  it.each<[string, () => void, string]>([
    ['no attestation', () => (attested = undefined), 'never attested'],
    ['half an attestation', () => attest({ ...ATTESTED, selfFence: { grantMs: 5_000 } }), 'is not whole'],
    ['words in place of an attestation', () => attest('armed'), 'is not whole'],
    ['another boot', () => attest({ ...ATTESTED, bootID: 'boot-0' }), 'boot boot-0 attested'],
    ['a Node that is gone', () => (node = undefined), 'the Node shows none'],
    ['another machine', () => attest({ ...ATTESTED, systemUUID: UUID.replace('1e', '2e') }), 'another machine'],
    ['a watchdog that is not armed', () => attest({ ...ATTESTED, watchdog: { ...ATTESTED.watchdog, state: 'disarmed' } }), 'was disarmed'],
    ['a watchdog in the kernel', () => attest({ ...ATTESTED, watchdog: { ...ATTESTED.watchdog, kind: 'soft' } }), 'the watchdog is soft'],
    ['a machine that can be paused', () => attest({ ...ATTESTED, watchdog: { ...ATTESTED.watchdog, isPausable: true } }), 'can be paused'],
    ['a watchdog that only tells', () => attest({ ...ATTESTED, watchdog: { ...ATTESTED.watchdog, action: 'none' } }), 'action is none'],
    [
      'times that break a rule',
      () => attest({ ...ATTESTED, selfFence: { ...ATTESTED.selfFence, isolationTimeoutMs: 29_999 } }),
      'timing rule 5: isolation_timeout 29.999 s',
    ],
    ['an attestation that was old', () => attest(ATTESTED, ENDED, '2025-12-31T23:59:19.000000Z'), '61 s old'],
    ['no word of the kubelet', () => (kubelet = undefined), 'it is unknown how old'],
    ['grants that nobody has ended', () => attest(ATTESTED, null), 'nobody has ended the grants'],
    ['grants of another boot that ended', () => attest(ATTESTED, { ...ENDED, bootID: 'boot-0' }), 'nobody has ended the grants'],
  ])('proves nothing with %s', async (_what, change, words) => {
    change();
    await expect(run()).rejects.toMatchObject({ kind: 'Refused', message: expect.stringContaining(words) as string });
    expect(await agent.confirm(target())).toBe(false);
  });

  describe('with the controllers’ side of the node daemons', () => {
    let endings: { node: string; bootID: string; atMs: number }[];

    /** Ends grants as the controllers do: `beforeSend` in the turn of the write; the promises are there after `promisedAfterMs`. */
    async function given(promisedAfterMs = 0, promised: string[] = ENDED.promised): Promise<void> {
      endings = [];
      const endGrants = async (name: string, bootID: string, call: EndingCall) => {
        const { deadlineMs } = call;
        if (seenEnded.length === 0) call.beforeSend();
        endings.push({ node: name, bootID, atMs: clock.monotonicMs() });
        await clock.sleep(Math.min(promisedAfterMs, deadlineMs));
        attest(ATTESTED, { ...ENDED, promised: promisedAfterMs > deadlineMs ? [] : promised });
        return { ...ENDED, promised };
      };
      daemons = {
        endGrants,
        permit: () => () => undefined,
        sawEnded: (name, bootID) => void seenEnded.push(`${name} ${bootID}`),
        isHeard: (_name, bootID) => heard(bootID),
        clockDoubt: (name, bootID) => clockDoubt(name, bootID),
      };
      attest(ATTESTED, null);
      agent = await fresh();
    }

    it('ends the grants, and waits from when the last peer has promised', async () => {
      await given(20_000);
      const { seconds, outcome } = await run();
      expect(outcome.evidence).toEqual({ kind: 'watchdog', grade: 'inferred' });
      expect(endings).toMatchObject([{ node: 'worker-1', bootID: 'boot-1' }]);
      expect(seconds).toBeGreaterThanOrEqual(118.85);
      expect(seenEnded).toContain('worker-1 boot-1');
    });

    it('says which peers have not promised when its time is over, and collects on in the next run', async () => {
      await given(0, ['peer-1']);
      await expect(run({ deadlineMs: 30_000 })).rejects.toMatchObject({ kind: 'Timeout', message: expect.stringContaining('peer-2') as string });
      await given(0);
      attest(ATTESTED, { ...ENDED, promised: ['peer-1'] });
      expect((await run()).seconds).toBeLessThan(103);
      expect(endings).toHaveLength(1);
    });

    it('sends nothing where the run may not begin any more', async () => {
      await given();
      const beforeSend = (): void => {
        throw new Error('the lease is lost');
      };
      await expect(run({ beforeSend })).rejects.toThrow('the lease is lost');
      expect(endings).toEqual([]);
    });

    it('waits anew while the boot is heard that must have ended: its watchdog has not bitten', async () => {
      await given();
      const fromMs = clock.monotonicMs();
      heard = (bootID) => bootID === 'boot-1' && clock.monotonicMs() - fromMs < 110_000;
      expect((await run()).seconds).toBeGreaterThan(2 * 99.919);
      heard = () => true;
      expect(await agent.confirm(target())).toBe(false);
    });

    it('does not wait anew where the daemon is heard until the machine is reset, or in another boot', async () => {
      await given();
      const fromMs = clock.monotonicMs();
      heard = (bootID) => clock.monotonicMs() - fromMs < 85_000 || bootID !== 'boot-1';
      expect((await run()).seconds).toBeLessThan(103);
    });

    it('proves nothing by the silence of a node whose clock was last measured as slow, and ends no grants for it', async () => {
      await given();
      clockDoubt = (name, bootID) => (name === 'worker-1' && bootID === 'boot-1' ? 'its clock fell 6.6 s behind ours within 80 s' : undefined);
      const refused = { kind: 'Refused', message: expect.stringContaining('its clock fell 6.6 s behind ours within 80 s') as string };
      await expect(run()).rejects.toMatchObject(refused);
      expect(endings).toEqual([]);
      attest();
      await expect(run()).rejects.toMatchObject(refused);
      expect(await agent.confirm(target())).toBe(false);
    });

    it('waits anew where the clock was measured as slow while it waited', async () => {
      await given();
      await expect(
        run({}, (over) => {
          if (over === 90) clockDoubt = () => 'its clock fell 6.6 s behind ours within 80 s';
        }),
      ).rejects.toMatchObject({ kind: 'Refused' });
      clockDoubt = () => undefined;
      expect((await run()).seconds).toBeGreaterThan(98);
    });

    it('is refused no proof for a doubt about the clock of another boot', async () => {
      await given();
      clockDoubt = (_name, bootID) => (bootID === 'boot-1' ? undefined : 'its clock is slow');
      expect((await run()).outcome.evidence).toEqual({ kind: 'watchdog', grade: 'inferred' });
    });

    it('never ends grants in a confirmation', async () => {
      await given();
      expect(await agent.confirm(target())).toBe(false);
      expect(endings).toEqual([]);
    });

    it('tells that grants were ended by whoever it was, before it counts from there', async () => {
      await given();
      attest();
      expect(await agent.confirm(target())).toBe(false);
      expect(seenEnded).toEqual(['worker-1 boot-1']);
    });

    it.each<[string, () => void]>([
      ['no attestation', () => (attested = undefined)],
      ['another boot', () => attest({ ...ATTESTED, bootID: 'boot-0' }, null)],
      ['another machine', () => attest({ ...ATTESTED, systemUUID: UUID.replace('1e', '2e') }, null)],
      ['a watchdog that is not armed', () => attest({ ...ATTESTED, watchdog: { ...ATTESTED.watchdog, state: 'disarmed' } }, null)],
      ['a watchdog in the kernel', () => attest({ ...ATTESTED, watchdog: { ...ATTESTED.watchdog, kind: 'soft' } }, null)],
      ['a machine that can be paused', () => attest({ ...ATTESTED, watchdog: { ...ATTESTED.watchdog, isPausable: true } }, null)],
      ['no watchdog', () => attest({ ...ATTESTED, watchdog: undefined }, null)],
      ['a node that does not fence itself', () => attest({ ...ATTESTED, selfFence: undefined }, null)],
      ['times that break a rule', () => attest({ ...ATTESTED, selfFence: { ...ATTESTED.selfFence, isolationTimeoutMs: 29_999 } }, null)],
      ['an attestation that was old', () => attest(ATTESTED, null, '2025-12-31T23:59:19.000000Z')],
    ])('ends no grants where silence could prove nothing: %s', async (_what, change) => {
      await given();
      change();
      await expect(run()).rejects.toMatchObject({ kind: 'Refused' });
      expect(endings).toEqual([]);
    });
  });

  it('leaves no timer when it is given up', async () => {
    const controller = new AbortController();
    const waiting = run({ signal: controller.signal }, (seconds) => {
      if (seconds === 10) controller.abort();
    });
    await expect(waiting).rejects.toMatchObject({ kind: 'NotSent' });
    expect(clock.pending).toBe(0);
  });
});
