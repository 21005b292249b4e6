import { expect, it } from 'vitest';
import { method, planOf } from '../../domain/testing/model.ts';
import type { Path } from './path.ts';
import { Paths } from './paths.ts';

function path(node: string, key: string): Path {
  return {
    ...{
      node,
      method: method('off', 'redfish', 'off', { device: key }),
      names: ['off'],
      switched: [],
      isIdentityRequired: true,
      plan: planOf(),
      intervalMs: 1,
      dueAtMs: 0,
      readAtMs: 0,
    },
    ...{ isRead: false, isBroken: false, failures: 0 },
  };
}

it('paths are found by their node, and all of them one after the other', () => {
  const paths = new Paths();
  const [first, second, other] = [path('a', 'bmc'), path('a', 'pdu'), path('b', 'bmc')];
  paths.replace(
    new Map([
      ['a', [first, second]],
      ['b', [other]],
    ]),
  );
  expect(paths.of('a')).toEqual([first, second]);
  expect(paths.of('c')).toEqual([]);
  expect(paths.all).toEqual([first, second, other]);
});

it('what is not among them any more is no path, of a node or of all', () => {
  const paths = new Paths();
  const kept = path('a', 'bmc');
  paths.replace(new Map([['b', [path('b', 'bmc')]]]));
  paths.replace(new Map([['a', [kept]]]));
  expect([paths.of('b'), paths.all]).toEqual([[], [kept]]);
  paths.clear();
  expect([paths.of('a'), paths.all]).toEqual([[], []]);
});
