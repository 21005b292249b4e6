import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { KdumpNetwork } from './kdump-network.ts';

it('drills that run side by side hear the messages of crash kernels on addresses of their own', async () => {
  const first = await KdumpNetwork.reserve(['worker-1']);
  const [, one = 0, two = 0] = first.listensAt(1).split('.').map(Number);
  const drawn = [one - 64, two];
  const second = await KdumpNetwork.reserve(['worker-1'], (below) => drawn.shift() ?? randomInt(below));
  expect(drawn).toEqual([]);
  expect(second.listensAt(1)).toMatch(/^127\.\d+\.\d+\.1:7410$/);
  expect(second.listensAt(1)).not.toBe(first.listensAt(1));
  expect(second.addressOf('worker-1')).not.toBe(first.addressOf('worker-1'));
  first.close();
  second.close();
});
