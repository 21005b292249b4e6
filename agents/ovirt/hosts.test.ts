import { expect, it } from 'vitest';
import { unheardHost } from './hosts.ts';

const cluster = { id: 'c1' };
const hosts = (count: number): object => ({ host: Array.from({ length: count }, (_, index) => ({ name: `h${index}`, status: 'up', cluster })) });

it('believes no down where the list of hosts may not be whole: one that is lost may stand behind its end', () => {
  expect(unheardHost({ cluster: 'c1' }, hosts(999))).toBeUndefined();
  expect(unheardHost({ cluster: 'c1' }, hosts(1_000))).toContain('the engine shows 1000 hosts and may have more');
});
