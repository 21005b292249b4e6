import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAST_APPLIED, NODE_ENDED, NODE_EXPIRY, PRESERVE } from '../../src/controllers/preservation/names.ts';
import type { FenceFacts } from '../../src/controllers/preservation/snapshot.ts';
import { annotate, fleet, look } from './fleet.ts';
import type { Member } from './fleet.ts';
import { ShellWorld } from './shell-world.ts';
import { HOUR_MS, node, NOW_MS, World } from './world.ts';

const OPEN: FenceFacts = { uid: 'uid-fence', isOpen: true, isIsolated: false, isOff: false };
const SILENT = { ready: 'Unknown', readySinceMs: NOW_MS - 60_000 } as const;
const UNTIL = NOW_MS + 72 * HOUR_MS;

function fenced(member: Omit<Member, 'name'>, max = 0): World {
  return fleet({ members: [{ name: 'a', ...member, nodeFacts: { ...SILENT, fence: OPEN, ...member.nodeFacts } }], max });
}

describe('a preservation that is stopped under an open fence', () => {
  it.each([
    ['node', undefined],
    ['node', 'false'],
    ['machine', undefined],
    ['machine', 'false'],
  ] as const)('by the word of the %s (%s) is over: whoever asks anew gets the whole time, though the old end has passed', (where, word) => {
    const world = fenced({ [where]: 'when-failed' });
    world.settle();
    annotate(world, 'a', word, where);
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed', until: undefined });
    expect(world.decide().guards).toEqual([]);
    world.nowMs = UNTIL + HOUR_MS;
    world.settle();
    annotate(world, 'a', 'now', where);
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', until: 145 });
    expect(world.decide().guards).toEqual([{ node: 'node-of-a', guard: 'isolate-and-hold', cause: 'user', untilMs: UNTIL + 73 * HOUR_MS }]);
    expect(world.kinds()).not.toContain('power-off');
    expect(world.done.filter(({ target }) => target.kind === 'Node')).toEqual([]);
  });

  it('of a machine that runs again does not bound the next failure', () => {
    const world = fenced({ node: 'when-failed', facts: { expiryMs: NOW_MS + HOUR_MS }, nodeFacts: { ready: 'True' } });
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running', until: undefined });
    world.nowMs += 2 * HOUR_MS;
    world.editNode('node-of-a', SILENT);
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', until: 74 });
  });

  it('gives its machine a place of the pool where one is free, as outside of a fence', () => {
    const world = fenced({ node: 'when-failed' }, 1);
    world.settle();
    world.nowMs += HOUR_MS;
    annotate(world, 'a', undefined);
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed:Preserved', until: 73, machine: 'auto-preserve' });
  });

  it('because its time is over begins no other: neither by the word that still stands, nor by a free place when that is taken away', () => {
    const world = fenced({ node: 'when-failed' }, 1);
    world.settle();
    world.nowMs = UNTIL;
    world.settle();
    annotate(world, 'a', undefined);
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Failed', until: 72, machine: undefined });
    expect(world.decide().guards).toEqual([]);
  });

  it('has its end taken from a Node without a Machine, and is not preserved automatically after a refusal', () => {
    const marks = { [PRESERVE]: 'now' };
    const world = new World({ nodes: [node('plain', { ...SILENT, annotations: marks, fence: OPEN })] });
    world.settle();
    expect(world.node('plain').annotations).toHaveProperty([NODE_EXPIRY]);
    world.editNode('plain', { annotations: { ...world.node('plain').annotations, [PRESERVE]: 'false' } });
    world.settle();
    expect(world.node('plain').annotations).toEqual({ [PRESERVE]: 'false', [NODE_ENDED]: 'true' });
    world.nowMs = UNTIL + HOUR_MS;
    world.editNode('plain', { annotations: { ...world.node('plain').annotations, [PRESERVE]: 'now' } });
    world.settle();
    expect(world.decide().guards).toMatchObject([{ node: 'plain', guard: 'isolate-and-hold', untilMs: UNTIL + 73 * HOUR_MS }]);
  });

  it('is told where the fence has ended in error, but for a machine that runs', () => {
    const nodeFacts = { fence: { ...OPEN, hasFailed: true as const } };
    const world = fenced({ node: 'when-failed', nodeFacts });
    world.settle();
    annotate(world, 'a', 'false');
    expect(world.settle().problems).toEqual([expect.stringContaining('keeps it although it was annotated with false')]);
    expect(world.machine('a').expiryMs).toBeUndefined();
    const running = fenced({ node: 'when-failed', facts: { expiryMs: UNTIL }, nodeFacts: { ...nodeFacts, ready: 'True' } });
    expect(running.decide().warnings).toEqual([]);
  });
});

describe('a word that is removed from a Machine', () => {
  const told = (world: World): unknown[] => world.decide().actions.map((action) => action.kind === 'annotate' && action.event);

  it('with that of its Node is told: nobody can tell which came last where nobody looked in between', () => {
    const world = fleet({ members: [{ name: 'a', node: 'when-failed' }] });
    world.settle();
    annotate(world, 'a', undefined);
    annotate(world, 'a', 'now', 'machine');
    const message = expect.stringMatching(
      /preserve=now of the Machine is removed with that of its Node \(when-failed\).*annotate once more/,
    ) as string;
    expect(told(world)).toEqual([{ type: 'Warning', reason: 'PreserveAnnotationRemoved', message }]);
    world.settle();
    expect(world.machine('a').annotations).toEqual({});
    annotate(world, 'a', 'now', 'machine');
    world.settle();
    expect(look(world, 'a')).toMatchObject({ phase: 'Running:Preserved', machine: 'now' });
  });

  it('because that of its Node counts is told, and that one is named', () => {
    const world = fleet({ members: [{ name: 'a', node: 'false', machine: 'now' }] });
    const message = expect.stringMatching(/preserve=now of the Machine is removed, for that of its Node counts: "false"$/) as string;
    expect(told(world)).toEqual([{ type: 'Normal', reason: 'PreserveAnnotationRemoved', message }]);
  });

  it.each([
    ['empty', { [PRESERVE]: '', [LAST_APPLIED]: 'now' }],
    ['absent', { [LAST_APPLIED]: 'now' }],
  ])('and was %s is not told', (_what, annotations) => {
    const world = fleet({ members: [{ name: 'a', facts: { annotations } }] });
    expect(told(world)).toEqual([undefined]);
  });
});

describe('a gap between two leaders under an open fence', () => {
  const NODE = 'node-of-m1';
  const EVENT = 'Machine m1 Warning PreserveAnnotationRemoved';
  let world: ShellWorld;

  beforeEach(async () => {
    world = await ShellWorld.create();
  });

  afterEach(async () => {
    await world.end();
  });

  const until = async (): Promise<string | undefined> => (await world.machine('m1'))?.status?.currentStatus?.preserveExpiryTime;

  it('in which the Node’s word went and one of the Machine came ends the first; the second is told of, and heard when it is given again', async () => {
    await world.add('m1', { ready: 'Unknown', node: { [PRESERVE]: 'when-failed' }, timeout: '1h' });
    await world.fenced(NODE, 'running', 'none');
    const first = world.start();
    await world.pass(5_000);
    const before = await until();
    await first.close();
    await world.annotateNode(NODE, { [PRESERVE]: null });
    await world.annotateMachine('m1', { [PRESERVE]: 'now' });
    const { controller, events, writes } = world.start();
    await world.pass(5_000);
    expect(await until()).toBeUndefined();
    expect(await world.machine('m1')).not.toHaveProperty('metadata.annotations');
    expect(events).toEqual(['Machine m1 Normal PreservationStopped', EVENT]);
    expect(controller.guardOf(NODE)).toBeUndefined();
    await world.annotateMachine('m1', { [PRESERVE]: 'now' });
    await world.pass(5_000);
    expect(controller.guardOf(NODE)).toMatchObject({ guard: 'isolate-and-hold', cause: 'user' });
    expect(Date.parse((await until()) ?? '')).toBeGreaterThan(Date.parse(before ?? ''));
    expect(writes.filter((write) => write.includes('/nodes/'))).toEqual([]);
  });
});
