import { expect, it } from 'vitest';
import { open, seal } from '../../domain/node-daemon/seal.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { keyOf, macOf } from '../../testbed/simulation/keys.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeHooks, ExchangeOptions, ExchangePorts } from './exchange.ts';

const BOOT = '00000000-0000-4000-8000-000000000001';

it('vouches for its peer although strangers flood it, from so many addresses that none of them is answered any more', () => {
  const answers: { to: string; type: string | undefined }[] = [];
  let receive: (bytes: Uint8Array, from: string) => void = () => undefined;
  const ports = {
    clock: new ManualClock(),
    socket: {
      address: 'a:7411',
      receive: (handle: typeof receive) => void (receive = handle),
      send: (to: string, bytes: Uint8Array) => {
        const opened = open(bytes, () => [macOf(keyOf('a'), keyOf(to.split(':')[0] ?? ''))]);
        answers.push({ to, type: 'datagram' in opened ? opened.datagram.type : undefined });
      },
    },
    keys: { publicKey: keyOf('a'), macWith: (key: string) => macOf(keyOf('a'), key) },
    promises: { mayVouchFor: () => true },
  };
  const exchange = new Exchange(ports as unknown as ExchangePorts, { node: 'a', bootID: BOOT } as ExchangeOptions, {} as ExchangeHooks);
  exchange.know({
    ...{ controllerKeys: [], controllerAddresses: [], accepted: ['b'] },
    told: { peers: [{ node: 'b', publicKey: keyOf('b'), address: 'b:7411' }] },
  });
  exchange.start();
  const asks = (node: string, from: string): void => {
    const asked = { type: 'vouch-request', sender: node, bootID: BOOT, signs: 0, counter: 1, publicKey: keyOf(node) } as const;
    receive(seal(asked, macOf(keyOf(node), keyOf('a'))), from);
  };
  for (const host of ['v', 'w', 'x', 'y', 'z']) for (let port = 1; port <= 60; port += 1) asks(host, `${host}:${port}`);
  expect(answers.map(({ to }) => to.split(':')[0])).toEqual(['v', 'w', 'x', 'y'].flatMap((host) => Array<string>(50).fill(host)));
  answers.length = 0;
  asks('b', 'b:7411');
  expect(answers).toEqual([{ to: 'b:7411', type: 'vouch' }]);
});
