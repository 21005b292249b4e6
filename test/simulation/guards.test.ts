import { describe, expect, it } from 'vitest';
import type { DeviceEvent } from '../../src/laws/trace.ts';
import { FenceWatch } from './fence-watch.ts';
import { Guards } from './guards.ts';

function set(want: 'on' | 'off', node = 'a'): DeviceEvent {
  return { kind: 'device', at: 0, device: `bmc-${node}`, plug: '', node, session: 's', action: 'set', want, answer: '204' };
}

describe('what is to become of the machines besides', () => {
  it('blames the first off of a machine that has been kept for a while', () => {
    const guards = new Guards(new FenceWatch(() => 0));
    guards.set('a', 'isolate-and-hold', 0);
    expect(guards.asked(set('off'), 30_000)).toContain('bmc-a was set off although its machine had been kept (isolate-and-hold) for 30 s');
  });

  it('blames neither what was on its way, nor a second off, nor that of another, nor an on', () => {
    const guards = new Guards(new FenceWatch(() => 0));
    guards.set('a', 'unknown', 0);
    expect(guards.asked(set('off', 'b'), 30_000)).toBeUndefined();
    expect(guards.asked(set('on'), 30_000)).toBeUndefined();
    expect(guards.asked(set('off'), 5_000)).toBeUndefined();
    expect(guards.asked(set('off'), 30_000)).toBeUndefined();
  });

  it('blames the first off that was sent, though it was lost: the next may follow it, for whoever sent it cannot tell; one that was refused is none', () => {
    const guards = new Guards(new FenceWatch(() => 0));
    const lost = (node: string): DeviceEvent => ({ ...set('off', node), answer: 'lost' });
    expect(guards.asked(lost('a'), 0)).toBeUndefined();
    for (const node of ['a', 'b', 'c']) guards.set(node, 'isolate-and-hold', 0);
    expect(guards.asked(set('off'), 30_000)).toBeUndefined();
    expect(guards.asked(lost('b'), 30_000)).toContain('bmc-b was set off although its machine had been kept');
    expect(guards.asked({ ...set('off', 'c'), answer: '403' }, 0)).toBeUndefined();
    expect(guards.asked(set('off', 'c'), 30_000)).toContain('bmc-c was set off');
  });

  it('blames no off of a machine that was read off before', () => {
    const guards = new Guards(new FenceWatch(() => 0));
    guards.set('a', 'isolate-and-hold', 0);
    const read: DeviceEvent = {
      kind: 'device',
      at: 0,
      device: 'bmc-a',
      plug: '',
      node: 'a',
      session: 's',
      action: 'read',
      shown: 'off',
      answer: '200',
    };
    expect(guards.asked({ ...read, shown: 'on' }, 29_000)).toBeUndefined();
    expect(guards.asked(set('off'), 30_000)).toContain('bmc-a was set off');
    guards.set('b', 'isolate-and-hold', 0);
    expect(guards.asked({ ...read, node: 'b' }, 29_000)).toBeUndefined();
    expect(guards.asked(set('off', 'b'), 30_000)).toBeUndefined();
  });

  it('blames an on of a machine that is being deleted', () => {
    const guards = new Guards(new FenceWatch(() => 0));
    guards.set('a', 'drop', 0);
    expect(guards.asked(set('on'), 30_000)).toContain('bmc-a was set on although its machine was being deleted');
    guards.set('a', undefined, 31_000);
    expect(guards.asked(set('on'), 60_000)).toBeUndefined();
  });
});
