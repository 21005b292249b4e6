import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FenceState } from '../../../domain/node-fence.ts';
import { Implications } from '../../../domain/testing/implications.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { decideHandOver, classify, mayLead } from './decision.ts';
import type { Candidate, HandOverView, NodeClass } from './decision.ts';

const B: Candidate = { id: 'b', node: 'b', mode: 'enforce', isAlive: true };

function view(own: NodeClass, candidates: readonly Candidate[], more: Partial<HandOverView> & { others?: NodeClass } = {}): HandOverView {
  const { others = 'well', ...rest } = more;
  const classOf = (node: string): NodeClass => (node === 'a' ? own : others);
  return { ownNode: 'a', mode: 'enforce', candidates, classOf, declined: new Set(), ...rest };
}

const CANDIDATES: readonly [what: string, candidates: readonly Candidate[], others: NodeClass, isUseful: boolean][] = [
  ['a replica is alive on a well node', [B], 'well', true],
  ['a replica is alive outside of the cluster', [{ id: 'x', mode: 'enforce', isAlive: true }], 'failed', true],
  ['there is no other replica', [], 'well', false],
  ['the other replica was not heard for long', [{ ...B, isAlive: false }], 'well', false],
  ['the other replica runs on the same node', [{ ...B, node: 'a' }], 'well', false],
  ['the other replica only observes', [{ ...B, mode: 'observe' }], 'well', false],
  ["the other replica's node failed", [B], 'failed', false],
  ["the other replica's node is a target itself", [B], 'target', false],
];

describe('the leader whose own node is the target', () => {
  it.each(CANDIDATES)('when %s', (_what, candidates, others, isUseful) => {
    expect(decideHandOver(view('target', candidates, { others })).kind).toBe(isUseful ? 'hand-over' : 'keep');
  });

  it.each([
    ['its node is well', view('well', [B])],
    ['its node failed and is not fenced yet', view('failed', [B])],
    ['it only observes', view('target', [{ ...B, mode: 'observe' }], { mode: 'observe' })],
    ['it runs on no node', view('target', [B], { ownNode: undefined })],
  ])('and otherwise nobody hands over: %s', (_what, given) => {
    expect(decideHandOver(given)).toEqual({ kind: 'none' });
  });

  it('hands nothing to a replica that did not take what was free', () => {
    expect(decideHandOver(view('target', [B], { declined: new Set(['b']) })).kind).toBe('keep');
  });

  it('is never handed to by the one that it would hand over to: of two nodes not both are well and a target', () => {
    const laws = new Implications('handed over');
    const look = fc.constantFrom<NodeClass>('well', 'failed', 'target');
    fc.assert(
      fc.property(look, look, (a, b) => {
        const classOf = (node: string): NodeClass => (node === 'a' ? a : b);
        const here: HandOverView = { ...view(a, [B]), classOf };
        const there: HandOverView = { ...here, ownNode: 'b', candidates: [{ ...B, id: 'a', node: 'a' }] };
        expect([decideHandOver(here).kind, decideHandOver(there).kind]).not.toEqual(['hand-over', 'hand-over']);
        laws.where('handed over', decideHandOver(here).kind === 'hand-over', () => {
          expect(mayLead(here, 0, false)).toBe(false);
          expect(mayLead(there, 0, false)).toBe(true);
        });
      }),
    );
    expect(laws.neverGiven).toEqual([]);
  });
});

describe('a replica that finds the lease free', () => {
  it.each(CANDIDATES)('on a failed node lets others go first only if they can: %s', (_what, candidates, others, isUseful) => {
    expect(mayLead(view('failed', candidates, { others }), 0, false)).toBe(!isUseful);
    expect(mayLead(view('target', candidates, { others }), 0, false)).toBe(!isUseful);
  });

  it.each([
    ['on a well node stands at once', view('well', [B]), 0, false, true],
    ['outside of the cluster stands at once', view('failed', [B], { ownNode: undefined }), 0, false, true],
    ['that is blind lets others go first', view('well', [B]), 0, true, false],
    ['that is blind and alone stands', view('well', []), 0, true, true],
    ['on a failed node waits just under a minute', view('failed', [B]), 59_999, false, false],
    ['on a failed node waits no longer than a minute', view('failed', [B]), 60_000, false, true],
  ])('%s', (_what, given, freeForMs, isBlind, stands) => {
    expect(mayLead(given, freeForMs, isBlind)).toBe(stands);
  });
});

describe('how a node looks', () => {
  const fence = (state: FenceState, more: Partial<NodeFence['spec']> = {}): NodeFence => ({
    metadata: { name: 'node-fence-a' },
    spec: { node: 'a', ...more },
    status: { state } as NonNullable<NodeFence['status']>,
  });
  const requestedBy = { apiVersion: 'v1', kind: 'Person', name: 'p', uid: 'u' };

  it.each<[string | undefined, NodeFence | undefined, NodeClass]>([
    ['True', undefined, 'well'],
    ['Unknown', undefined, 'failed'],
    [undefined, undefined, 'failed'],
    ['Unknown', fence('new'), 'target'],
    ['True', fence('new'), 'well'],
    ['True', fence('new', { requestedBy }), 'target'],
    ['True', fence('running'), 'target'],
    ['False', fence('error'), 'target'],
    ['True', fence('done'), 'well'],
    ['Unknown', fence('done'), 'failed'],
    ['True', fence('final'), 'well'],
    ['Unknown', fence('final'), 'failed'],
    ['True', { ...fence('running'), metadata: { name: 'x', deletionTimestamp: 'now' } }, 'well'],
  ])('that is Ready=%s under %j', (ready, given, look) => {
    expect(classify(ready, given)).toBe(look);
  });

  it('is that of a target where its fence says that another replica must lead, also while it is Ready', () => {
    const held = (reason: string): NodeFence => ({
      ...fence('new'),
      status: { ...fence('new').status, hold: { reason } } as NonNullable<NodeFence['status']>,
    });
    expect([classify('True', held('own-node')), classify('True', held('storm'))]).toEqual(['target', 'well']);
  });
});
