import { describe, expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';
import type { Disturbance } from './scenario.ts';
import { sweptScenario } from './sweep.ts';

const TIMEOUT_MS = 120_000;
/** While it is isolated, waits, is told off, is read off, is released, is told on, and waits for its health. */
const MOMENTS_MS = [43_500, 44_500, 46_035, 47_500, 50_190, 58_100, 80_000] as const;

type Trouble = Disturbance extends infer One ? (One extends Disturbance ? Omit<One, 'atMs'> : never) : never;

/** As test/availability/real has them of a real control plane. */
const TROUBLES: Readonly<Record<string, { trouble: Trouble; refuses: boolean }>> = {
  'the API server is started anew, and knows no roles for a moment': {
    trouble: { what: 'restart', lacks: { rolesMs: 2_200, storagesMs: 3_000 }, durationMs: 6_000 },
    refuses: true,
  },
  'it is started anew so fast that only the watches tell': {
    trouble: { what: 'restart', lacks: { rolesMs: 300, storagesMs: 600 }, durationMs: 200 },
    refuses: true,
  },
  'it is away for longer than a Lease lasts': {
    trouble: { what: 'restart', lacks: { rolesMs: 3_000, storagesMs: 3_000 }, durationMs: 25_000 },
    refuses: true,
  },
  'our account has no share, and each request is answered 429': { trouble: { what: 'throttle', durationMs: 9_000 }, refuses: true },
  'our account has no share for longer than a Lease lasts': { trouble: { what: 'throttle', durationMs: 30_000 }, refuses: true },
  'history is compacted, and every watch is answered 410': { trouble: { what: 'expire', durationMs: 0 }, refuses: false },
};

interface Seen {
  /** Edges of the machine's power, and accepted orders to switch it off by any one controller process. */
  off: number;
  toldByOne: number;
  final: number;
  refused: number;
}

function seenIn(lines: readonly string[]): Seen {
  const count = (words: RegExp): number => lines.filter((line) => words.test(line)).length;
  const tellers = lines.flatMap((line) => /device bmc-a set off -> 204 \((\S+)\)/.exec(line)?.[1] ?? []);
  return {
    off: count(/^\S+ power a off by /),
    toldByOne: Math.max(...tellers.map((one) => tellers.filter((other) => other === one).length)),
    final: count(/ fence state changed node="a" state="final"/),
    refused: count(/^\S+ api nodefence .* (?:403|429)(?: |$)/),
  };
}

describe.each(Object.entries(TROUBLES))('%s', (_name, { trouble, refuses }) => {
  it.each(['taint', 'pods'])(
    'in the midst of a fence (%s): it ends once, with the machine off once',
    async (base) => {
      const whenRefused: number[] = [];
      for (const atMs of MOMENTS_MS) {
        const lines: string[] = [];
        const scenario = { ...sweptScenario(base), disturbances: [{ ...trouble, atMs } as Disturbance] };
        const { state, violations } = await runSeed(1, { scenario, onLine: (line) => lines.push(line) });
        const { refused, ...seen } = seenIn(lines);
        expect({ atMs, state, violations, ...seen }).toEqual({ atMs, state: 'final', violations: [], off: 1, toldByOne: 1, final: 1 });
        if (refused > 0) whenRefused.push(atMs);
      }
      expect(whenRefused).toEqual(refuses ? MOMENTS_MS : []);
    },
    TIMEOUT_MS,
  );
});
