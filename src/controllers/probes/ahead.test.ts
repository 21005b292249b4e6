import { describe, expect, it } from 'vitest';
import type { Timing } from '../../domain/plan.ts';
import { method, planOf } from '../../domain/testing/model.ts';
import type { Node } from '../../ports/objects.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeCluster, FakeLister, nodeOf } from '../fence/testing/harness.ts';
import { ProbeController } from './controller.ts';

/** The nodes, whose changes are told. */
class Nodes extends FakeLister<Node> {
  #tell: (before: Node | undefined, after: Node | undefined) => void = () => undefined;

  override onChange(listener?: (before: Node | undefined, after: Node | undefined) => void): () => void {
    this.#tell = listener ?? this.#tell;
    return () => undefined;
  }

  becomes(name: string, ready: 'True' | 'Unknown'): void {
    const before = this.get(name);
    const after = named(name, ready);
    this.items = this.items.map((node) => (node === before ? after : node));
    this.#tell(before, after);
  }
}

/** A fleet whose BMCs are called ahead of fences, and else left alone. */
class Fleet {
  readonly clock = new ManualClock();
  readonly nodes = new Nodes();
  readonly warmed: string[] = [];
  /** When each node was last heard. */
  readonly heardAtMs = new Map<string, number>();
  isLeading = true;
  readonly controller: ProbeController;

  constructor(names: readonly string[], mode: 'observe' | 'enforce', delays: Partial<Timing>) {
    this.nodes.items = names.map((name) => named(name));
    const isLeading = (): boolean => this.isLeading;
    const timing = { ...planOf().timing, ...delays };
    this.controller = new ProbeController({
      clock: this.clock,
      cluster: new FakeCluster().asCluster(),
      listers: { nodes: this.nodes, fences: new FakeLister<NodeFence>(), reports: new FakeLister<NodeFenceReport>() },
      planner: {
        planFor: ({ metadata: { name } }) =>
          planOf({ timing, powerManagement: [{ level: 1, methods: [method('off', 'redfish', 'off', { device: `bmc-${name}` })] }] }),
        parametersFor: () => Promise.resolve({}),
      },
      prober: {
        warm: ({ method: { device }, isUrgent }) => Promise.resolve(void this.warmed.push(isUrgent === true ? `${device} at once` : device)),
        probe: () => Promise.resolve(undefined),
      },
      leadership: {
        get isLeading() {
          return isLeading();
        },
      },
      recorder: { event: () => undefined },
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      metrics: { devices: () => undefined, strangers: () => undefined, oldestProbe: () => undefined, credentialExpiry: () => undefined },
      options: { mode },
      recordedWith: (_node, status) => status,
      lifeAtMs: (node) => this.heardAtMs.get(node),
    });
    this.controller.start();
  }
}

function named(name: string, ready: 'True' | 'Unknown' = 'True'): Node {
  const node = nodeOf({ ready });
  return { ...node, metadata: { ...node.metadata, name, uid: `uid-${name}` } };
}

describe('connections', () => {
  const PROMPT = { isolationDelayMs: 0, powerManagementDelayMs: 0 };

  it('are opened in the turn in which a node fails whose off follows at once, beside the writes of its records', async () => {
    for (const [mode, timing, isLeading, warmed] of [
      ['enforce', PROMPT, true, ['bmc-a at once']],
      ['enforce', PROMPT, false, []],
      ['observe', PROMPT, true, []],
      ['enforce', {}, true, []],
    ] as const) {
      const fleet = new Fleet(['a', 'b'], mode, timing);
      await fleet.clock.advance(2_000);
      fleet.isLeading = isLeading;
      fleet.nodes.becomes('a', 'Unknown');
      expect(fleet.warmed).toEqual(warmed);
      fleet.nodes.becomes('a', 'Unknown');
      fleet.nodes.becomes('a', 'True');
      await fleet.clock.advance(0);
      expect(fleet.warmed).toEqual(warmed);
      await fleet.controller.close();
    }
  });

  it('are opened to the device of a node that has missed a renewal, every half minute for a minute, and not where many have', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
    for (const [silent, timing, warmed] of [
      [1, PROMPT, ['bmc-n0', 'bmc-n0']],
      [16, PROMPT, names.slice(0, 16).flatMap((name) => [`bmc-${name}`, `bmc-${name}`])],
      [17, PROMPT, []],
      [1, {}, []],
    ] as const) {
      const fleet = new Fleet(names, 'enforce', timing);
      await fleet.clock.advance(2_000);
      for (const [index, name] of names.entries()) fleet.heardAtMs.set(name, index < silent ? fleet.clock.monotonicMs() : Infinity);
      await fleet.clock.advance(15_000);
      expect(fleet.warmed).toEqual([]);
      await fleet.clock.advance(90_000);
      expect(fleet.warmed.toSorted()).toEqual(warmed.toSorted());
      await fleet.controller.close();
    }
  });

  it('are not opened to a node that is silent, and has failed already', async () => {
    const fleet = new Fleet(['a'], 'enforce', PROMPT);
    fleet.nodes.items = [named('a', 'Unknown')];
    fleet.heardAtMs.set('a', fleet.clock.monotonicMs());
    await fleet.clock.advance(120_000);
    expect(fleet.warmed).toEqual([]);
    await fleet.controller.close();
  });
});
