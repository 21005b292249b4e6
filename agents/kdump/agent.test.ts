import { beforeEach, describe, expect, it } from 'vitest';

import type { ActionAgent, Outcome, Parameters, Target } from '../../src/ports/agents.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import type { Recognition } from '../../src/ports/kdump.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { kdump } from './definition.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const DUMPING: Recognition = { state: 'dumping', detail: '3 messages', renewTime: RENEWED };
const UNHEARD: Recognition = { state: 'unheard', detail: 'no message came', renewTime: RENEWED };

describe('kdump', () => {
  let clock: ManualClock;
  let ready: string | undefined;
  let renewTime: string;
  let recognised: Recognition | undefined;
  let sent: number;

  beforeEach(() => {
    clock = new ManualClock();
    [ready, renewTime, recognised, sent] = ['Unknown', RENEWED, DUMPING, 0];
  });

  async function made(): Promise<ActionAgent> {
    const cluster: Partial<Cluster> = {
      get: <T extends KubeObject>({ plural }: Resource<T>) => {
        const node = ready === undefined ? undefined : { metadata: { name: 'a' }, status: { conditions: [{ type: 'Ready', status: ready }] } };
        return Promise.resolve((plural === NODES.plural ? node : { metadata: { name: 'a' }, spec: { renewTime } }) as unknown as T | undefined);
      },
    };
    const heard = recognised === undefined ? {} : { kdump: { recognise: () => recognised ?? UNHEARD } };
    const agent = await kdump.create({ cluster: cluster as Cluster, clock, ...heard });
    if (agent.kind !== 'action') throw new Error('not an action');
    return agent;
  }

  function target(parameters: Parameters): Target {
    const { signal } = new AbortController();
    const beforeSend = (): void => void (sent += 1);
    return { plug: '', device: '', parameters, identity: { node: 'a' }, signal, deadlineMs: 600_000, beforeSend };
  }

  async function run(
    parameters: Parameters = {},
    meanwhile: (second: number) => void = () => undefined,
  ): Promise<{ seconds: number; outcome: Outcome }> {
    const agent = await made();
    const state = { isOver: false };
    const beganMs = clock.monotonicMs();
    const running = agent.run(target(parameters)).finally(() => (state.isOver = true));
    running.catch(() => undefined);
    for (let second = 0; !state.isOver && second < 1_000; second += 1) {
      meanwhile(second);
      await clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const outcome = await running;
    return { seconds: (clock.monotonicMs() - beganMs) / 1_000, outcome };
  }

  it('proves a dump that is heard, and sends nothing', async () => {
    const { outcome } = await run();
    expect(outcome).toMatchObject({ result: 'accepted', evidence: { kind: 'kdump', grade: 'inferred' } });
    expect(await (await made()).confirm(target({}))).toBe(true);
    expect(sent).toBe(0);
  });

  it('waits for one', async () => {
    recognised = UNHEARD;
    const { outcome, seconds } = await run({ wait: '60s' }, (second) => {
      if (second === 20) recognised = DUMPING;
    });
    expect(outcome.evidence?.kind).toBe('kdump');
    expect(seconds).toBeLessThan(25);
  });

  it.each<[string, () => void]>([
    ['no message', () => (recognised = UNHEARD)],
    ['nobody who listens', () => (recognised = undefined)],
    ['a dump that is over', () => (recognised = { ...DUMPING, state: 'over' })],
    ['a Node that is Ready by now', () => (ready = 'True')],
    ['a Node that is gone', () => (ready = undefined)],
    ['a lease that was renewed and has not arrived yet', () => (renewTime = '2026-01-01T00:00:10.000000Z')],
  ])('%s proves nothing, and stops no fence unless it shall', async (_what, change) => {
    change();
    const { outcome, seconds } = await run();
    expect(outcome).toMatchObject({ result: 'accepted', detail: expect.stringContaining('not dumping') as string });
    expect(outcome.evidence).toBeUndefined();
    expect(seconds).toBeLessThanOrEqual(32);
    await expect(run({ unheard: 'fail' })).rejects.toMatchObject({ kind: 'Refused' });
  });

  it.each([{ wait: '2h' }, { unheard: 'maybe' }])('refuses %j', (parameters) => {
    expect(kdump.check(parameters, false)).toHaveLength(1);
  });
});
