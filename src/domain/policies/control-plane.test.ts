import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { controlPlane } from './control-plane.ts';
import { fence, heldBy, holdOf, node, SLOT, view } from './testing/views.ts';
import type { EtcdMember, StormNode, StormView } from './view.ts';

const policy = controlPlane({ name: 'control-plane' });

/** One word a node: `f` failed, `s` silent, `h` healthy; `*`: its fence is under way; `m` has a healthy member, `x` one that is not; `w`: a worker. */
function scene(words: string, members = true): StormView {
  const all: StormNode[] = [];
  const etcd: EtcdMember[] = [];
  for (const [index, word] of words.split(' ').entries()) {
    const name = `n${index}`;
    const health = word.includes('f') ? 'failed' : word.includes('s') ? 'silent' : 'healthy';
    all.push(node(name, { health, isControlPlane: !word.includes('w'), fence: word.includes('*') ? SLOT : undefined }));
    if (/[mx]/.test(word)) etcd.push({ name: `etcd-${name}`, node: name, isHealthy: word.includes('m'), source: 'health endpoint' });
  }
  return view(all, { controlPlane: { members: members ? etcd : undefined } });
}

describe('control-plane with known members', () => {
  it.each<[what: string, words: string, reason: string | undefined]>([
    ['one of three has failed', 'fx hm hm', undefined],
    ['its member still answers: it counts as lost all the same', 'fm hm hm', undefined],
    ['another member is ill', 'fx hm hx', 'etcd-quorum'],
    ["another member's node is silent", 'fx hm sm', 'etcd-quorum'],
    ["another member's node has failed", 'fx hm fm', 'etcd-quorum'],
    ['two of five', 'fx fx hm hm hm', undefined],
    ['three of five', 'fx fx fx hm hm', 'etcd-quorum'],
    ['one of four', 'fx hm hm hm', undefined],
    ['two of four', 'fx fx hm hm', 'etcd-quorum'],
    ['one of two', 'fx hm', 'etcd-quorum'],
    ['the only member', 'fm', 'etcd-quorum'],
    ['another control-plane node is under way', 'fx hm* hm hm hm', 'control-plane-fencing'],
    ['it is under way itself', 'fx* hm hm', undefined],
    ['a control-plane node without a member, quorum gone', 'f hx hx hm', undefined],
    ['a member runs on a worker that is under way', 'fx hm whm*', 'etcd-quorum'],
    ['a worker', 'wf hm hm hm', undefined],
    ['a worker, quorum gone', 'wf hx hx hm', undefined],
    ['a worker that hosts a member', 'wfm hm', 'etcd-quorum'],
    ['a worker that hosts a member does not wait for a control-plane node', 'wfx hm* hm hm hm', undefined],
  ])('%s', (_what, words, reason) => {
    expect(holdOf(policy, scene(words))?.reason).toBe(reason);
  });

  it('a member whose node is not known counts by its own health', () => {
    const one = scene('fx hm');
    const outside = (isHealthy: boolean): EtcdMember => ({ name: 'etcd-z', node: undefined, isHealthy, source: 'health endpoint' });
    const withMember = (member: EtcdMember): StormView => ({ ...one, controlPlane: { members: [...(one.controlPlane.members ?? []), member] } });
    expect(holdOf(policy, withMember(outside(true)))).toBeUndefined();
    expect(holdOf(policy, withMember(outside(false)))?.reason).toBe('etcd-quorum');
  });

  it.each<[words: string, message: string]>([
    [
      'fx hx hm',
      'etcd would have 1 of 3 members, its quorum is 2 (lost then: etcd-n0 by health endpoint, etcd-n1 by health endpoint); ends when at least 2 others are healthy',
    ],
    [
      'fm',
      'etcd would have 0 of 1 members, its quorum is 1 (lost then: etcd-n0 by health endpoint); ends when at least 1 others are healthy, which so few members never allow',
    ],
  ])('%s: says its numbers', (words, message) => {
    expect(holdOf(policy, scene(words))?.message).toBe(message);
  });
});

describe('control-plane with unknown members', () => {
  it.each<[what: string, words: string, reason: string | undefined]>([
    ['one of three has failed', 'f h h', undefined],
    ['two of three', 'f f h', 'control-plane-majority'],
    ['one of three, another is silent', 'f s h', 'control-plane-majority'],
    ['two of five', 'f f h h h', undefined],
    ['one of two', 'f h', 'control-plane-majority'],
    ['the only one', 'f', 'control-plane-majority'],
    ['another one is under way', 'f h* h h h', 'control-plane-fencing'],
    ['a healthy one that somebody asked for', 'h h h', undefined],
    ['a healthy one that somebody asked for, another has failed', 'h f h', 'control-plane-majority'],
    ['a worker of a managed control plane', 'wf w w', undefined],
  ])('%s', (_what, words, reason) => {
    expect(holdOf(policy, scene(words, false))?.reason).toBe(reason);
    expect(holdOf(policy, { ...scene(words, false), controlPlane: { members: [] } })?.reason).toBe(reason);
  });
});

describe('one control-plane node at a time', () => {
  it('of two that began at once the one that began first goes on, and never both wait', () => {
    const both = scene('fx* fx* hm hm hm');
    const starts = [
      { node: 'n1', atMs: 1 },
      { node: 'n0', atMs: 2 },
    ];
    expect(heldBy(policy, { ...both, starts }).slice(0, 1)).toEqual(['n0']);
    expect(holdOf(policy, { ...both, starts }, 'n1')).toBeUndefined();
    expect(holdOf(policy, both, 'n0')).toBeUndefined();
    expect(holdOf(policy, both, 'n1')?.reason).toBe('control-plane-fencing');
  });

  it.each<[state: 'new' | 'running' | 'done' | 'final' | 'error', isHeld: boolean]>([
    ['new', false],
    ['running', true],
    ['done', false],
    ['error', false],
    ['final', false],
  ])('a fence without a slot that is %s', (state, isHeld) => {
    const five = scene('fx fx hm hm hm');
    const other = { ...node('n1', { isControlPlane: true, health: 'failed' }), fence: fence({ state }) };
    const found = holdOf(policy, { ...five, nodes: new Map(five.nodes).set('n1', other) });
    expect(found?.reason).toBe(isHeld ? 'control-plane-fencing' : undefined);
  });

  it('a fence that is kept from going on, and has given its slot away, blocks nobody; its node counts as lost', () => {
    const kept = { ...node('n1', { isControlPlane: true, health: 'failed' }), fence: fence({ state: 'running', isKept: true }) };
    const among = (words: string): string | undefined => {
      const all = scene(words);
      return holdOf(policy, { ...all, nodes: new Map(all.nodes).set('n1', kept) })?.reason;
    };
    expect([among('fx fm hm hm hm'), among('fx fm hm')]).toEqual([undefined, 'etcd-quorum']);
  });

  it('a node whose host is being switched off on request counts as lost, though it is Ready yet', () => {
    const held = (words: string, members: boolean): string | undefined => {
      const all = scene(words, members);
      return holdOf(policy, { ...all, controlPlane: { ...all.controlPlane, offOnRequest: new Set(['n1']) } })?.reason;
    };
    expect([held('fx hm hm', true), held('f h h', false), held('fx hm hm hm hm', true)]).toEqual([
      'etcd-quorum',
      'control-plane-majority',
      undefined,
    ]);
  });

  it('a slot that is only just taken counts', () => {
    const five = scene('fx fx hm hm hm');
    const other = node('n1', { isControlPlane: true, health: 'failed', fence: fence({ holdsSlot: true }) });
    expect(holdOf(policy, { ...five, nodes: new Map(five.nodes).set('n1', other) })?.reason).toBe('control-plane-fencing');
  });

  it('never lets through what leaves less than a quorum, and more failures never let go', () => {
    const word = fc.constantFrom('fx', 'fm', 'sm', 'hm', 'hx');
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 7 }), (words) => {
        const quorum = Math.floor(words.length / 2) + 1;
        const held = heldBy(policy, scene(words.join(' ')));
        for (const index of words.keys()) {
          const left = words.filter((other, at) => at !== index && other === 'hm').length;
          expect(held.includes(`n${index}`)).toBe(left < quorum);
        }
        const worse = words.map((one, index) => (index === 0 ? 'fx' : one));
        expect(heldBy(policy, scene(worse.join(' ')))).toEqual(expect.arrayContaining(held));
      }),
    );
  });
});
