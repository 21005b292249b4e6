import { describe, expect, it } from 'vitest';
import { POWERED_OFF } from '../../src/controllers/machine-remediation/names.ts';
import { machine, World } from './world.ts';

describe('what is kept of a Node', () => {
  it('tells what a backup that nobody can read held, before it is dropped', () => {
    const own = machine();
    const kept = { [POWERED_OFF]: '2027-01-01T00:00:00Z', 'remediation.metal3.io/node-labels-backup': '{"zone":' };
    const world = new World({ machine: { ...own, annotations: { ...own.annotations, ...kept } } });
    world.step();
    const events = world.done.flatMap(({ event }) => (event === undefined ? [] : [`${event.type} ${event.reason} ${event.message}`]));
    expect(events).toEqual([
      'Warning NodeNotRestored remediation.metal3.io/node-labels-backup can not be read, and what it kept is not put back: {"zone":',
    ]);
  });
});
