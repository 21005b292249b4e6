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
    const other = { 'fence-config-node-b': { 'config.properties': 'isolation=mark-unschedulable\n' } };
    expect(message({ ...ofNode, ...other, ...alone('fence-method-p3-node-b', 'p3') }, ['p1', 'p2']), 'that of another node').toBe('');
  });

  it('revokes no storage to which a ConfigMap for all with a plug of its own may be another way, unless that is known to be of another node', () => {
    const cordoned = { 'config.properties': 'isolation=mark-unschedulable\n' };
    const ofAll = (name: string, plug = name): ConfigMaps => ({
      [`fence-method-${name}`]: { 'method.properties': (way('x')['fence-method-x'] ?? '').replace('plug=x', `plug=${plug}`) },
    });
    const both = { 'fence-config-node-a': cordoned, ...ofAll('p1'), ...ofAll('p2') };
    expect(message(both, ['p1'])).toContain('p2 closes another way to storage san');
    expect(message(both, ['p1']), 'how to say that it is not').toContain(
      'if it is of another node, rename ConfigMap fence-method-p2 to fence-method-p2-<node>',
    );
    expect(message(both, ['p1', 'p2'])).toBe('');
    const listed = { 'fence-config-node-b': { 'config.properties': 'isolation=p2\nrecovery=mark-schedulable\n' } };
    expect(message({ ...both, ...listed }, ['p1']), 'another node lists it').toBe('');
    const inline = { 'fence-config-node-b': { 'config.properties': 'isolation=own\n', 'fence-method-own': way('p2')['fence-method-p2'] ?? '' } };
    expect(message({ ...both, ...inline }, ['p1']), 'another node switches its plug').toBe('');
    const isTemplate = { 'fence-method-template-san': { 'template.properties': way('x')['fence-method-x'] ?? '' } };
    expect(message({ 'fence-config-node-a': cordoned, ...ofAll('p1'), ...isTemplate }, ['p1']), 'a template is no method').toBe('');
    const misnamed = { 'fence-method-p2': { properties: way('p2')['fence-method-p2'] ?? '' } };
    expect(message({ 'fence-config-node-a': cordoned, ...ofAll('p1'), ...misnamed }, ['p1']), 'under another key').toContain('p2 closes another way');
  });

  it('revokes no storage to which a way stays open that is wrong elsewhere', () => {
    const config = (properties: string, p2: string): ConfigMaps => ({
      'fence-config-node-a': { 'config.properties': properties, ...way('p1'), 'fence-method-p2': p2 },
    });
    const right = way('p2')['fence-method-p2'] ?? '';
    const wrong = [
      right.replace('secret=bmc-login', 'secret=no-such-secret'),
      right.replace('agent_name=fc-switch', 'agent_name=fc-swich'),
      right.replace('action=off', 'action=of'),
      right.replace('ip=192.0.2.20\n', ''),
      `template=none\n${right}`,
    ];
    for (const text of wrong) {
      expect(message(config('isolation=p1 p2\n', text), ['p1']), `listed: ${text}`).toContain('p2 closes another way to storage san');
      expect(message(config('isolation=mark-unschedulable\n', text), ['p1']), `not listed: ${text}`).toContain(
        'p2 closes another way to storage san',
      );
    }
    expect(message(config('isolation=p1 p2\n', right.replace('action=off', 'action=on')), ['p1']), 'it opens').toBe('');
    expect(message(config('isolation=p1 p3\n', right), ['p1']), 'a name that nobody can read').toContain('p3 may close another way to storage san');
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
