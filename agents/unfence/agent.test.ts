import { beforeEach, describe, expect, it } from 'vitest';

import { ATTESTATION } from '../../src/domain/node-daemon/attestation.ts';
import type { ActionAgent, Outcome, Target } from '../../src/ports/agents.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import type { NodeDaemons } from '../../src/ports/node-daemons.ts';
import type { KubeObject, Lease } from '../../src/ports/objects.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { unfence } from './definition.ts';

const FENCE = '11111111-0000-4000-8000-000000000001';
const RUN = '22222222-0000-4000-8000-00000000abcd';
const OTHER = '33333333-0000-4000-8000-000000000003';
const READY = { state: 'ready to recover', key: '1', devices: ['/dev/a'], fence: FENCE, run: RUN, epoch: 1 };

describe('unfence', () => {
  let clock: ManualClock;
  let attested: Lease | undefined;
  let stops: KubeObject[];
  let permits: { node: string; bootID: string; fence: string; run: string; isWithdrawn: boolean }[];
  let agent: ActionAgent;

  beforeEach(async () => {
    clock = new ManualClock();
    attested = undefined;
    stops = [];
    permits = [];
    agent = await made({
      permit: (node, permit) => {
        const given = { node, ...permit, isWithdrawn: false };
        permits.push(given);
        return () => void (given.isWithdrawn = true);
      },
    });
  });

  async function made(daemons?: Partial<NodeDaemons>): Promise<ActionAgent> {
    const cluster: Partial<Cluster> = {
      get: <T extends KubeObject>(_resource: Resource<T>, name: string, namespace?: string) =>
        Promise.resolve((name === 'nodefence-node-worker-1' && namespace === 'fences' ? attested : undefined) as T | undefined),
      list: <T extends KubeObject>() => Promise.resolve(stops as T[]),
    };
    const context = { cluster: cluster as Cluster, clock, namespace: 'fences' };
    const created = await unfence.create(daemons === undefined ? context : { ...context, daemons: daemons as NodeDaemons });
    if (created.kind !== 'action') throw new Error('not an action');
    return created;
  }

  function attest(unfenced: unknown, bootID = 'boot-2'): void {
    const annotations = { [ATTESTATION]: JSON.stringify({ bootID, systemUUID: 'u', unfence: unfenced }) };
    attested = { metadata: { name: 'nodefence-node-worker-1', annotations }, spec: {} };
  }

  function target(change: Partial<Target> = {}): Target {
    return {
      ...{ plug: '', device: '', parameters: {}, identity: { node: 'worker-1' }, signal: new AbortController().signal, deadlineMs: 120_000 },
      ...{ bootID: 'boot-2', incident: `${FENCE}/1`, intent: `unfence-${RUN}`, beforeSend: () => undefined },
      ...change,
    };
  }

  async function run(change: Partial<Target> = {}, meanwhile: (seconds: number) => void = () => undefined): Promise<Outcome> {
    const state = { isOver: false };
    const running = agent.run(target(change)).finally(() => (state.isOver = true));
    running.catch(() => undefined);
    for (let seconds = 0; !state.isOver && seconds < 300; seconds += 1) {
      meanwhile(seconds);
      await clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return running;
  }

  it('permits this boot for this run of this fence, until it is ready', async () => {
    const withdrawn: number[] = [];
    const outcome = await run({}, (seconds) => {
      if (seconds === 20) attest(READY);
      withdrawn.push(permits.filter(({ isWithdrawn }) => isWithdrawn).length);
    });
    expect(withdrawn.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 0));
    expect(outcome.detail).toMatch(/ready to recover: boot boot-2 has registered key 0x1 again on \/dev\/a/);
    expect(permits).toEqual([{ node: 'worker-1', bootID: 'boot-2', fence: FENCE, run: RUN, isWithdrawn: true }]);
    expect(await agent.confirm(target())).toBe(true);
    expect(await agent.confirm(target({ intent: `unfence-${OTHER}` }))).toBe(false);
  });

  it.each<[string, object, string, RegExp]>([
    ['another run', { ...READY, run: OTHER }, 'boot-2', /^Timeout: .*it says ready to recover/],
    ['another fence', { ...READY, fence: OTHER }, 'boot-2', /^Timeout/],
    ['another boot', READY, 'boot-1', /^Timeout: .*has attested nothing/],
    ['a process that still registers', { ...READY, state: 'registering' }, 'boot-2', /^Timeout: .*it says registering/],
    ['what it cannot do again', { ...READY, state: 'failed', why: 'shut out' }, 'boot-2', /^Refused: .*reboot the node/],
    ['what may still succeed', { ...READY, state: 'failed', why: 'not registered' }, 'boot-2', /^Timeout: .*could not be registered/],
  ])('does not take for ready: %s', async (_what, unfenced, bootID, words) => {
    attest(unfenced, bootID);
    await expect(run()).rejects.toThrow(words);
    expect(permits.map(({ isWithdrawn }) => isWithdrawn)).toEqual([true]);
    expect(await agent.confirm(target())).toBe(false);
  });

  it('is withdrawn when a person says stop', async () => {
    const standing: number[] = [];
    const stopped = run({}, (seconds) => {
      if (seconds === 5) stops = [{ metadata: { name: 'halt' }, spec: { all: true, reason: 'r' } } as KubeObject];
      if (permits[0]?.isWithdrawn !== true) standing.push(seconds);
    });
    await expect(stopped).rejects.toThrow(/NodeFenceStop halt is active/);
    expect(standing.at(-1)).toBeLessThanOrEqual(7);
  });

  it('permits nothing without a lease, a boot, a fence, or daemons that are heard', async () => {
    const beforeSend = (): never => {
      throw new Error('no lease');
    };
    await expect(run({ beforeSend })).rejects.toThrow('no lease');
    for (const without of ['bootID', 'incident', 'intent'] as const) {
      const { [without]: _gone, ...rest } = target();
      await expect(agent.run(rest)).rejects.toThrow(/Misconfigured/);
    }
    expect(permits).toEqual([]);
    agent = await made();
    await expect(run()).rejects.toThrow(/--node-daemons/);
  });

  it('is refused by a daemon that puts nothing back', async () => {
    attest(undefined);
    await expect(run()).rejects.toThrow(/--unfence-device/);
  });
});
