import { describe, expect, it } from 'vitest';
import type { AskedMethods } from '../domain/node-fence.ts';
import type { Plan } from '../domain/plan.ts';
import { errors, plan, SEED, seedWith } from './testing/plans.ts';
import type { ConfigMaps } from './testing/plans.ts';

const CONFIGURED: ConfigMaps = seedWith('supplies=1', {
  'fence-method-bmc': 'template=fence-method-template-bmc\naction=reboot',
});

function asked(methods: string[], lastStep?: AskedMethods['lastStep'], configMaps: ConfigMaps = CONFIGURED): Plan {
  return plan(configMaps, { asked: { methods, ...(lastStep !== undefined && { lastStep }) } });
}

function names(levels: Plan['isolation']): string[][] {
  return levels.map(({ methods }) => methods.map(({ name }) => name));
}

describe('a plan of the methods that are asked for', () => {
  it('has these and no others, in their order: power in power_management, the rest in isolation, recovery as configured', () => {
    const result = asked(['bmc-off', 'mark-unschedulable', 'bmc-on']);
    expect(errors(result)).toEqual([]);
    expect(names(result.isolation)).toEqual([['mark-unschedulable']]);
    expect(names(result.powerManagement)).toEqual([['bmc-off', 'bmc-on']]);
    expect(names(result.recovery)).toEqual([['mark-schedulable']]);
    expect(result.source).toBe('node');
  });

  it('takes a method that no step lists', () => {
    expect(names(asked(['bmc']).powerManagement)).toEqual([['bmc']]);
  });

  it.each<[string, string[], AskedMethods['lastStep'], string]>([
    ['a method that the node does not have', ['bmc-of'], undefined, 'bmc-of'],
    ['no method that switches off, and no lastStep', ['mark-unschedulable'], undefined, 'write spec.lastStep: isolation'],
    ['an on alone, and no lastStep', ['bmc-on'], undefined, 'write spec.lastStep: isolation'],
    ['no method at all', [], 'isolation', 'names no method'],
    ['a method twice', ['bmc-off', 'bmc-off'], undefined, 'names method bmc-off twice'],
    ['what is no name', ['../x'], 'isolation', 'is no name of a method'],
  ])('is refused for %s: nothing is done', (_what, methods, lastStep, words) => {
    const found = errors(asked(methods, lastStep));
    expect(found.map(({ message }) => message).join()).toContain(words);
    expect(found.map(({ step }) => step)).toEqual(expect.arrayContaining(['isolation', 'power-management']));
    expect(
      found.map(({ step }) => step),
      'what it recovers by is right',
    ).not.toContain('recovery');
  });

  const way = (name: string, more = ''): Readonly<Record<string, string>> => ({
    [`fence-method-${name}`]: `agent_name=fc-switch\nip=192.0.2.20\nplug=${name}\naction=off\nstorage=san\nstorage_match=class:san\nsecret=bmc-login\n${more}`,
  });
  const message = (configMaps: ConfigMaps, methods: string[]): string =>
    errors(asked(methods, 'isolation', configMaps))
      .map((problem) => problem.message)
      .join();

  it('revokes no storage to which a way of the same level stays open', () => {
    const both = { 'fence-config-node-a': { 'config.properties': 'isolation=p1 p2\nisolation.2=q\n', ...way('p1'), ...way('p2'), ...way('q') } };
    expect(message(both, ['p1'])).toContain('p2 closes another way to storage san');
    expect(message(both, ['p1', 'p2'])).toBe('');
    expect(message(both, ['q']), 'a level of its own').toBe('');
  });

  it('revokes no storage to which a way that is only defined stays open', () => {
    const none = { 'fence-config-node-a': { 'config.properties': 'isolation=mark-unschedulable\n', ...way('p1'), ...way('p2') } };
    expect(message(none, ['p1'])).toContain('p2 closes another way to storage san');
    expect(message(none, ['p1', 'p2'])).toBe('');
  });

  it('revokes no storage to which a way stays open that a ConfigMap of its own defines', () => {
    const node = { 'fence-config-node-a': { 'config.properties': 'isolation=mark-unschedulable\n' } };
    const alone = (config: string, plug = 'p'): ConfigMaps => ({
      [config]: { 'method.properties': (way('x')['fence-method-x'] ?? '').replace('plug=x', `plug=${plug}`) },
    });
    const ofNode = { ...node, ...alone('fence-method-p1-node-a'), ...alone('fence-method-p2-node-a', 'p2') };
    expect(message(ofNode, ['p1'])).toContain('p2 closes another way to storage san');
    expect(message(ofNode, ['p1', 'p2'])).toBe('');
    const ofAll = { ...node, ...alone('fence-method-p1', '{annotation:bmc}'), ...alone('fence-method-p2', '{node}') };
    expect(message(ofAll, ['p1'])).toContain('p2 closes another way to storage san');
    expect(
      message({ ...node, ...alone('fence-method-p1', '{node}'), ...alone('fence-method-p2', '{annotation:none}') }, ['p1']),
      'one that this node lacks',
    ).toBe('');
    expect(message({ ...ofNode, ...alone('fence-method-p3-node-b', 'p3') }, ['p1', 'p2']), 'that of another node').toBe('');
  });

  it('needs no power method where it goes no further than isolation', () => {
    expect(errors(asked(['mark-unschedulable'], 'isolation'))).toEqual([]);
  });

  it('keeps the rules of configured plans: off before on, every supply, and no plug of another node', () => {
    expect(
      errors(asked(['bmc-on', 'bmc-off']))
        .map(({ message }) => message)
        .join(),
    ).toContain('write the off first');
    const two = seedWith('supplies=2', { 'fence-method-p': 'agent_name=pdu\nip=192.0.2.8\nplug=1\naction=off' });
    expect(
      errors(asked(['p'], undefined, two))
        .map(({ message }) => message)
        .join(),
    ).toContain('a machine with one supply left runs on');
    const other = {
      'config.properties': 'power_management=m',
      'fence-method-m': 'agent_name=redfish\nip=192.0.2.7\nsecret=bmc-login\naction=reboot',
    };
    const shared = errors(asked(['bmc-off'], undefined, { ...SEED, 'fence-config-node-b': other }));
    expect(shared.map(({ message }) => message).join()).toContain('also switched for node node-b');
  });
});
