import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/domain/node-fence.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { CONTROLLER_USER } from './api.ts';
import { Bounds } from './bounds.ts';

function written(status: object): ApiEvent {
  const object = { metadata: { name: 'node-fence-a' }, spec: { node: 'a' }, status };
  const what = { resource: 'nodefences.ha.k8s.io', subresource: 'status', name: 'node-fence-a' };
  return { kind: 'api', at: 0, user: CONTROLLER_USER, verb: 'update', status: 200, ...what, object };
}

const told = { about: 'NodeFence node-fence-a', type: 'Normal', reason: 'FencingHeld', message: 'Held.' } as const;

describe('the bounds of a world', () => {
  it('admit a full journal, and nothing beyond', () => {
    const bounds = new Bounds();
    expect(bounds.wrote(written({ journal: Array.from({ length: LIMITS.journal }, () => ({})) }), 0)).toBeUndefined();
    expect(bounds.wrote(written({ journal: Array.from({ length: LIMITS.journal + 1 }, () => ({})) }), 1)).toContain('in journal');
  });

  it('admit a full fence only as long as it is not too large', () => {
    const journal = Array.from({ length: LIMITS.journal }, () => ({ message: 'x'.repeat(4_000) }));
    expect(new Bounds().wrote(written({ journal }), 0)).toMatch(/has \d+ characters/);
  });

  it('admit many writes over a long time, not within a minute', () => {
    const slow = new Bounds();
    const fast = new Bounds();
    const writes = Array.from({ length: 300 }, (_unused, index) => index);
    expect(writes.map((index) => slow.wrote(written({}), index * 2_000)).filter((violation) => violation !== undefined)).toEqual([]);
    expect(writes.map((index) => fast.wrote(written({}), index * 100)).filter((violation) => violation !== undefined).length).toBeGreaterThan(0);
  });

  it('admit an Event now and then, not again and again', () => {
    const bounds = new Bounds();
    const said = Array.from({ length: 40 }, (_unused, index) => bounds.said('nodefence-0', told, index * 1_000));
    expect(said.filter((violation) => violation !== undefined)).toHaveLength(1);
    const rare = new Bounds();
    expect(Array.from({ length: 40 }, (_unused, index) => rare.said('nodefence-0', told, index * 60_000)).every((one) => one === undefined)).toBe(
      true,
    );
  });

  it('admit that each new leader tells once more what stands', () => {
    const bounds = new Bounds();
    const said = Array.from({ length: 40 }, (_unused, index) => bounds.said(`nodefence-${index % 4}`, told, index * 1_000));
    expect(said.filter((violation) => violation !== undefined)).toEqual([]);
  });

  it('keep what each process says, for the law about secrets', () => {
    const bounds = new Bounds();
    bounds.said('nodefence-0', 'info leading', 0);
    bounds.said('nodefence-0', told, 0);
    expect(bounds.texts).toEqual({ 'what nodefence-0 says': 'info leading\nHeld.' });
  });
});
