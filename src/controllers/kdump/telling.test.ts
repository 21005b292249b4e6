import { describe, expect, it } from 'vitest';
import { EMPTY_PLAN } from '../../domain/plan.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { KubeObject, Lease } from '../../ports/objects.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { KdumpController } from './controller.ts';
import { tell, withDump } from './telling.ts';
import { listerOf, MESSAGE, nodeOf, quiet } from './testing/listers.ts';

interface Scene {
  write: (node: string) => Promise<void>;
  isHeard: boolean;
  /** The Lease of the replicas. */
  isRead: boolean;
  status: object;
}

describe('the leader', () => {
  const SILENT_MS = 60_000;

  /** What is told of nodes whose kubelets are silent, where no watch shows a write of ours. `write`: what the API server does with a report. */
  async function telling(
    nodes: string[],
    { write = () => Promise.resolve(), isHeard = true, isRead = true, status = {} }: Partial<Scene>,
  ): Promise<{ events: string[]; problems: readonly string[] }> {
    const clock = new ManualClock();
    const lifeAtMs = clock.monotonicMs() - SILENT_MS;
    const said = { events: [] as string[], problems: [] as readonly string[] };
    let hear: (bytes: Uint8Array, from: string) => void = quiet;
    const reports = nodes.map((name): NodeFenceReport => ({ metadata: { name, resourceVersion: '1' }, status }));
    const replaceStatus = async (_resource: unknown, { metadata }: KubeObject): Promise<never> => {
      await write(metadata.name);
      return {} as never;
    };
    const done = (): Promise<never> => Promise.resolve({} as never);
    const controller = new KdumpController({
      clock,
      cluster: { mergePatch: done, create: done, get: done, replaceStatus } as unknown as Cluster,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      recorder: { event: ({ metadata }, _type, reason) => void said.events.push(`${reason} ${metadata.name}`) },
      metrics: { message: quiet, dumps: quiet, acted: quiet, problems: quiet },
      leadership: { isLeading: true, mayBegin: () => true },
      socket: { receive: (handle) => void (hear = handle), close: quiet },
      planner: { planFor: () => EMPTY_PLAN },
      listers: {
        nodes: listerOf(nodes.map((name, index) => nodeOf(name, [`192.0.2.${index + 1}`]))),
        reports: listerOf(reports),
        leases: listerOf<Lease>([]),
        records: { ...listerOf<Lease>([]), synced: isRead },
      },
      lifeAtMs: () => lifeAtMs,
      isOnlySeen: () => false,
      failureOf: () => undefined,
      isArmed: () => false,
      wake: quiet,
      tellProblems: (problems) => void (said.problems = problems),
      options: { namespace: 'fences', replica: 'me', host: 'here' },
    });
    controller.start();
    for (let second = 0; second < 10; second += 1) {
      for (const [index] of isHeard ? nodes.entries() : []) hear(MESSAGE, `192.0.2.${index + 1}`);
      await clock.advance(1_000);
    }
    await controller.close();
    return said;
  }

  it('tells of a dump though the report of another node cannot be written, and says which', async () => {
    const write = (node: string): Promise<void> => (node === 'a' ? Promise.reject(new Error('its report is refused')) : Promise.resolve());
    const { events, problems } = await telling(['a', 'b'], { write });
    expect(events).toEqual(['KdumpStarted b']);
    expect(problems).toEqual(['what is known of a dump could not be reported: node a: its report is refused']);
  });

  it('tells of no end before it has read what the others hear', async () => {
    const condition = { type: 'KernelDump', status: 'True', reason: 'Dumping', message: '2 kdump messages', lastTransitionTime: '' };
    const { events } = await telling(['a'], { isHeard: false, isRead: false, status: { conditions: [condition] } });
    expect(events).toEqual([]);
  });

  it('tells once that a dump is over that it has not heard itself', async () => {
    const condition = { type: 'KernelDump', status: 'True', reason: 'Dumping', message: '2 kdump messages', lastTransitionTime: '' };
    const { events } = await telling(['a'], { isHeard: false, status: { conditions: [condition] } });
    expect(events).toEqual(['KdumpFinished a']);
  });
});

describe('what is told of a dump', () => {
  const heard = { source: '192.0.2.1', firstMs: 10_000, lastMs: 20_000, count: 2, first: '2026-01-01T00:00:00.000Z' };
  const node = { ready: 'Unknown' as const, lifeAtMs: 0 };
  const times = { finishedTimeoutMs: 60_000, maxDurationMs: 1_800_000 };
  const standing = (status: 'True' | 'False', lastTransitionTime: string) => ({
    metadata: { name: 'a' },
    status: { conditions: [{ type: 'KernelDump', status, reason: '', message: 'in whatever words', lastTransitionTime }] },
  });
  const begun = standing('True', heard.first);

  it('its begin, once', () => {
    const told = tell({ heard, node, times, nowMs: 25_000, isHeld: true }, undefined);
    expect(told).toMatchObject({ event: 'KdumpStarted', reason: 'Dumping' });
    const { conditions } = withDump({}, told as never, '2026-01-01T00:00:15.000Z');
    expect(conditions).toMatchObject([{ status: 'True', lastTransitionTime: heard.first }]);
    expect(tell({ heard, node, times, nowMs: 25_000, isHeld: true }, begun as never)).toBeUndefined();
  });

  it('no end by a process that has only begun to look at the node, while the messages come', () => {
    const seen = { ...node, lifeAtMs: 24_000, isOnlySeen: true };
    expect(tell({ heard, node: seen, times, nowMs: 25_000, isHeld: true }, begun as never)).toBeUndefined();
    expect(tell({ heard: undefined, node: seen, times, nowMs: 25_000, isHeld: true }, begun as never)).toMatchObject({ reason: 'Finished' });
  });

  it('says so where nothing waits for it', () => {
    expect(tell({ heard, node, times, nowMs: 25_000, isHeld: false }, undefined)?.message).toContain('kdump_enabled is off');
  });

  it.each([
    ['its silence', 'Finished', { heard, node, nowMs: 80_000 }],
    ['its limit', 'LimitOver', { heard: { ...heard, lastMs: 1_900_000 }, node, nowMs: 1_900_001 }],
    ['life', 'Alive', { heard: undefined, node, nowMs: 25_000 }],
  ])('its end by %s', (_what, reason, facts) => {
    const told = tell({ ...facts, times, isHeld: true }, begun);
    expect(told).toMatchObject({ event: 'KdumpFinished', reason });
    expect(told?.message).toContain(`The dump that began at ${heard.first} is over`);
    const { conditions } = withDump(begun.status, told as never, '2026-01-01T00:01:30.000Z');
    expect(conditions).toMatchObject([{ status: 'False', lastTransitionTime: '2026-01-01T00:01:30.000Z' }]);
  });

  it('the same dump is not begun anew by messages after a pause', () => {
    const over = standing('False', '2026-01-01T00:01:30.000Z');
    const again = { heard: { ...heard, lastMs: 100_000 }, node, times, nowMs: 100_001, isHeld: true };
    expect(tell(again, over as never)).toBeUndefined();
    const another = { ...again, heard: { ...again.heard, first: '2026-01-01T00:01:30.001Z' } };
    expect(tell(another, over as never)).toMatchObject({ event: 'KdumpStarted' });
  });

  it.each([
    ['one message', { ...heard, count: 1 }, node],
    ['a node that is Ready', heard, { ...node, ready: 'True' as const }],
    ['a kubelet that was heard since', heard, { ...node, lifeAtMs: 20_000 }],
  ])('nothing for %s', (_what, messages, facts) => {
    expect(tell({ heard: messages, node: facts, times, nowMs: 33_000, isHeld: true }, undefined)).toBeUndefined();
  });
});
