import { describe, expect, it } from 'vitest';
import { fenceName } from '../../src/domain/node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { FenceWatch } from './fence-watch.ts';
import { Rest } from './rest.ts';
import { ALL } from './secondary-controllers/testing.ts';
import { sweptScenario } from './sweep.ts';

const SCENARIO = { ...sweptScenario('taint'), victim: 'a' };
const WITHDRAWN_MS = 3_000_000;
const FENCE = { resource: 'nodefences.ha.k8s.io', status: 200, name: fenceName('a'), user: 'nodefence', at: 0, kind: 'api' };

/** How a world rests so long after the fence of its victim was withdrawn, or written as it is given. */
function isOver(afterMs: number, { isGone = true, state }: { isGone?: boolean; state?: string } = {}): boolean {
  const fence = new FenceWatch(() => WITHDRAWN_MS);
  const object = { metadata: { name: FENCE.name, finalizers: [] }, status: { state } };
  fence.hear({ ...FENCE, verb: state === undefined ? 'delete' : 'update', object } as never);
  const isVictim = (node: string): boolean => node === 'a';
  const rest = new Rest({
    scenario: SCENARIO,
    fence,
    takeOvers: { heldSinceMs: 0 },
    readiness: { has: (node) => !isVictim(node), changedAtMs: 0 },
    isGone: (node) => isGone && isVictim(node),
    isPending: () => false,
  });
  return rest.isOver(WITHDRAWN_MS + afterMs);
}

describe('a world whose victim is not Ready', () => {
  it('is over where its Node is gone with its Machine, a while after its fence', () => {
    expect(isOver(61_000)).toBe(true);
    expect(isOver(50_000)).toBe(false);
  });

  it('is not over while its Node is there, or while its fence is under way', () => {
    expect(isOver(3_600_000, { isGone: false })).toBe(false);
    expect(isOver(3_600_000, { state: 'running' })).toBe(false);
  });
});

const NOW_MS = 4_000_000;

/** Does a world rest in which node b, of which others ask, is held by that policy after so many incidents that each ran this? */
function restsHeld(
  runs: readonly Partial<JournalEntry>[],
  { policy = 'max-fences-per-day', nodes = ['b'], readyForMs = NOW_MS, isWithdrawn = false } = {},
): boolean {
  const fence = new FenceWatch(() => 0);
  const write = (status: Partial<NodeFenceStatus>): void => {
    const object = { metadata: { name: fenceName('b') }, status };
    fence.hear({ ...FENCE, name: fenceName('b'), verb: 'update', object } as never);
  };
  for (const [index, run] of runs.entries()) write({ state: 'final', incident: index + 1, journal: [run as JournalEntry] });
  if (isWithdrawn) fence.hear({ ...FENCE, name: fenceName('b'), verb: 'delete', object: {} } as never);
  write({ state: 'new', incident: runs.length + 1, journal: [], hold: { reason: 'x', policy, message: '', since: '' } });
  const rest = new Rest({
    scenario: { ...SCENARIO, secondaries: { composed: ALL, nodes, deeds: [] }, expected: { ...SCENARIO.expected, states: ['none'] } },
    fence,
    takeOvers: { heldSinceMs: 0 },
    readiness: { has: () => true, changedAtMs: NOW_MS - readyForMs },
    isGone: () => false,
    isPending: () => false,
  });
  return rest.isOver(NOW_MS);
}

describe('a world with a fence that is held by what its node may be fenced a day', () => {
  const off = { action: 'off', result: 'succeeded' } as const;
  const [withdrawn, unsent] = [{ action: 'run', agent: 'cordon', result: 'succeeded' } as const, { action: 'off', result: 'not-sent' } as const];

  it('is over when its node was fenced so often', () => {
    expect(restsHeld([off, { action: 'release', result: 'timeout' }, off])).toBe(true);
    expect(restsHeld([off, { action: 'on', result: 'succeeded' }, off])).toBe(true);
    expect(restsHeld([off, { action: 'run', agent: 'sim-ssh', result: 'succeeded' }, off]), 'a program ran').toBe(true);
    expect(restsHeld([off, off, { action: 'on' }], { isWithdrawn: true })).toBe(true);
  });

  it.each([
    ['one of its incidents was a cordon alone', [off, withdrawn, off], {}],
    ['one of its offs was never sent', [off, unsent, off], {}],
    ['one of its ons was never sent', [off, { action: 'on', result: 'not-sent' } as const, off], { isWithdrawn: true }],
    ['one of its ons is open, and its fence stands', [off, off, { action: 'on' } as const], {}],
    ['nobody asks for that node', [off, off, off], { nodes: ['c'] }],
    ['the breaker holds it', [off, off, off], { policy: 'breaker' }],
    ['a node has only just come back, and its pods have not', [off, off, off], { readyForMs: 5_000 }],
  ])('is not over when %s', (_what, runs, more) => {
    expect(restsHeld(runs, more)).toBe(false);
  });
});

/** Does a world rest in which the storage of that node, its victim by default, was closed, and whose fence was withdrawn then, or was not? */
function restsClosed(
  how: {
    isWithdrawn?: boolean;
    isAdmitted?: boolean;
    evidence?: string;
    afterMs?: number;
    askedOf?: readonly string[];
    runs?: readonly Partial<JournalEntry>[];
    node?: string;
    state?: string;
    device?: 'lies' | 'honest';
    isDeletedByHand?: boolean;
  } = {},
): boolean {
  const { node: closed = 'a', device = how.askedOf === undefined ? 'lies' : 'honest' } = how;
  const { isWithdrawn = true, isAdmitted = true, evidence = 'storage-revoked', afterMs = 700_000, askedOf, runs = [], state = 'running' } = how;
  const disturbances = how.isDeletedByHand === true ? [{ what: 'delete-fence', atMs: 1_000, durationMs: 0 } as const] : [];
  const fence = new FenceWatch(() => WITHDRAWN_MS);
  const deletion = isWithdrawn ? { deletionTimestamp: '' } : {};
  const status = { state, evidence: [{ kind: evidence }], journal: runs };
  const object = { metadata: { name: fenceName(closed), finalizers: ['nodefence'], ...deletion }, status };
  fence.hear({ ...FENCE, name: fenceName(closed), verb: 'update', object } as never);
  if (closed !== 'a') fence.hear({ ...FENCE, verb: 'update', object: { metadata: { name: FENCE.name }, status: { state: 'final' } } } as never);
  const rest = new Rest({
    scenario: {
      ...SCENARIO,
      device,
      disturbances,
      ...(askedOf !== undefined && { secondaries: { composed: ALL, nodes: askedOf, deeds: [] } }),
      ways: { storage: { behaviour: 'honest', isAdmitted } as never } as never,
    },
    fence,
    takeOvers: { heldSinceMs: 0 },
    readiness: { has: (node) => node !== closed, changedAtMs: 0 },
    isGone: () => false,
    isPending: () => false,
  });
  return rest.isOver(WITHDRAWN_MS + afterMs);
}

describe('a world whose victim can not be switched and had its storage closed', () => {
  it('is over a while after its fence was withdrawn, which waits for a boot', () => {
    expect(restsClosed()).toBe(true);
  });

  it.each([{ isWithdrawn: false }, { isAdmitted: false }, { evidence: 'power-off' }, { afterMs: 600_000 }])('is not over with %j', (how) => {
    expect(restsClosed(how)).toBe(false);
  });
});

describe('a world whose victim had its storage closed, and whose request was withdrawn', () => {
  const off = { action: 'off', step: 'power-management', result: 'succeeded' } as const;

  it('is over where no off of its machine was sent by then: nobody brings it to boot anew', () => {
    expect(restsClosed({ askedOf: ['a'] })).toBe(true);
    expect(
      restsClosed({
        askedOf: ['a'],
        runs: [
          { ...off, result: 'not-sent' },
          { ...off, result: 'stopped' },
          { ...off, result: 'timeout', offSent: false },
          { ...off, step: 'isolation' },
        ],
      }),
    ).toBe(true);
  });

  it('is over where that node was asked for beside the victim', () => {
    expect(restsClosed({ node: 'b', askedOf: ['b'] })).toBe(true);
    expect(restsClosed({ node: 'b', askedOf: ['a'], device: 'lies' })).toBe(false);
  });

  it('is over where the fence had failed by then, though it might have tried again', () => {
    expect(restsClosed({ state: 'error', askedOf: ['a'] })).toBe(true);
    expect(restsClosed({ state: 'error', askedOf: ['a'], isWithdrawn: false })).toBe(false);
  });

  it.each([
    ['its off was sent', ['a'], [off]],
    ['its off may be on its way', ['a'], [{ action: 'off', step: 'power-management' } as const]],
    ['its off had no answer', ['a'], [{ ...off, result: 'timeout' } as const]],
    ['nobody asked for it', ['b'], []],
  ])('is not over where %s', (_where, askedOf, runs) => {
    expect(restsClosed({ askedOf, runs })).toBe(false);
  });
});

describe('a world whose victim could be switched and had its storage closed, and whose fence a person deleted', () => {
  const by = { device: 'honest', isDeletedByHand: true } as const;

  it('is over where no off of its machine was sent by then, and not where one was', () => {
    expect(restsClosed(by)).toBe(true);
    expect(restsClosed({ ...by, runs: [{ action: 'off', step: 'power-management', result: 'succeeded' }] })).toBe(false);
    expect(restsClosed({ ...by, isWithdrawn: false })).toBe(false);
    expect(restsClosed({ ...by, isDeletedByHand: false })).toBe(false);
    expect(restsClosed({ ...by, node: 'b' })).toBe(false);
  });
});
