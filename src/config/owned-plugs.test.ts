import { describe, expect, it } from 'vitest';
import { OwnedPlugs } from './owned-plugs.ts';

describe('plugs and who owns them', () => {
  const [a, b] = [
    { plug: 'p', node: 'a', where: 'here' },
    { plug: 'p', node: 'b', where: 'there' },
  ];

  it('have one owner, or several, of whom each goes by itself', () => {
    const plugs = new OwnedPlugs();
    plugs.add(a);
    expect(plugs.soleOwner('p')).toBe(a);
    plugs.add(b);
    expect(plugs.soleOwner('p')).toBeUndefined();
    expect([...(plugs.get('p') ?? [])]).toEqual([
      ['a', 'here'],
      ['b', 'there'],
    ]);
    plugs.remove(a);
    expect(plugs.soleOwner('p')).toBe(b);
    plugs.remove(b);
    expect([plugs.get('p'), [...plugs.keys()]]).toEqual([undefined, []]);
  });

  it('count an owner once that says it in two places', () => {
    const plugs = new OwnedPlugs();
    plugs.add(a);
    plugs.add({ ...a, where: 'elsewhere' });
    expect(plugs.soleOwner('p')?.where).toBe('elsewhere');
  });
});
