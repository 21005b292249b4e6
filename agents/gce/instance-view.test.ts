import { describe, expect, it } from 'vitest';
import { instanceIn, machineOf } from './instance-view.ts';

/** What is told of the machine by the project that its Node names, that of the parameters, and that of the instance's own path. */
function comparedBy(named: string, project: string, own: string | undefined): string | undefined {
  const selfLink = own === undefined ? undefined : `https://www.googleapis.com/compute/v1/projects/${own}/zones/z/instances/a`;
  const instance = instanceIn({ id: '7', name: 'a', status: 'RUNNING', ...(selfLink === undefined ? {} : { selfLink }) });
  if (instance === undefined) throw new Error('no instance');
  return machineOf({ project, zone: 'z', instance: 'a', instanceId: undefined }, instance, { node: 'a', providerID: `gce://${named}/z/a` })
    .providerID;
}

describe('the project of an instance: a name is compared with a name, a number with a number', () => {
  it.each([
    ['mine', 'mine', 'mine', 'named'],
    ['123', '123', 'mine', 'named'],
    ['mine', '123', 'mine', 'named'],
    ['123', 'mine', 'mine', 'unknown'],
    ['mine', '123', undefined, 'unknown'],
    ['theirs', 'mine', 'mine', 'other'],
    ['theirs', '123', 'mine', 'other'],
    ['456', '123', 'mine', 'other'],
    ['456', '123', undefined, 'other'],
  ])('of which the Node names %s, the parameters %s and its own path %s is %s', (...[named, project, own, expected]) => {
    expect(comparedBy(named, project, own)).toBe(expected);
  });
});
