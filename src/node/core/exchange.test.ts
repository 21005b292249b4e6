import { expect, it } from 'vitest';
import { open, seal } from '../../domain/node-daemon/seal.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { keyOf, macOf } from '../../testbed/simulation/keys.ts';
import { Exchange } from './exchange.ts';
import type { CountedPeers } from '../../domain/node-daemon/peers.ts';
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

it('is kept up only by as many as each of the ways to count asks for that may be attested', () => {
  const told = { domain: 'r1', peers: ['b', 'c', 'd'].map((node) => ({ node, publicKey: keyOf(node), address: `${node}:7411`, domain: 'r2' })) };
  const peer = (node: string, domain?: string) => ({ node, ...(domain === undefined ? {} : { domain }) });
  const inRacks: CountedPeers = { domain: 'r1', peers: [peer('b', 'r1'), peer('c', 'r2'), peer('d', 'r3')] };
  const inOneRack: CountedPeers = { domain: 'r2', peers: told.peers.map(({ node }) => peer(node, 'r2')) };
  const alone: CountedPeers = { peers: [peer('b'), peer('c'), peer('d')] };
  const isKept = (counted: readonly CountedPeers[] | undefined, vouching: readonly string[]): boolean => {
    const sent = new Map<string, number>();
    let receive: (bytes: Uint8Array, from: string) => void = () => undefined;
    let kept = 0;
    const socket = {
      address: 'a:7411',
      receive: (handle: typeof receive) => void (receive = handle),
      send: (to: string, bytes: Uint8Array) => {
        const [node = ''] = to.split(':');
        const opened = open(bytes, () => [macOf(keyOf('a'), keyOf(node))]);
        if ('datagram' in opened) sent.set(node, opened.datagram.counter);
      },
    };
    const keys = { publicKey: keyOf('a'), macWith: (key: string) => macOf(keyOf('a'), key) };
    const options = { node: 'a', bootID: BOOT, times: { current: { grantMs: 5_000, heartbeatIntervalMs: 1_000 } } };
    const hooks = { signs: () => 0, kept: () => void (kept += 1) };
    const exchange = new Exchange(
      { clock: new ManualClock(), socket, keys } as unknown as ExchangePorts,
      options as unknown as ExchangeOptions,
      hooks as unknown as ExchangeHooks,
    );
    exchange.know({ controllerKeys: [], controllerAddresses: [], told, accepted: ['b', 'c', 'd'], ...(counted === undefined ? {} : { counted }) });
    exchange.start();
    exchange.tick();
    for (const node of vouching)
      receive(
        seal({ type: 'vouch', sender: node, bootID: BOOT, signs: 0, counter: sent.get(node) ?? 0 }, macOf(keyOf(node), keyOf('a'))),
        `${node}:7411`,
      );
    return kept > 0;
  };
  expect(isKept([inRacks], ['c', 'd'])).toBe(true);
  expect(isKept([inRacks, inOneRack], ['c', 'd'])).toBe(true);
  expect(isKept([inRacks, alone], ['c', 'd']), 'two of four').toBe(false);
  expect(isKept([alone, inRacks], ['b', 'c', 'd'])).toBe(true);
  expect(isKept([inOneRack], ['b', 'c'])).toBe(true);
  expect(isKept([inOneRack, inRacks], ['b', 'c'])).toBe(true);
  expect(isKept([inOneRack, inRacks], ['b'])).toBe(false);
  expect(isKept([], ['b', 'c', 'd']), 'nobody knows how it counts').toBe(false);
  expect(isKept(undefined, ['b', 'c']), 'as an older version wrote it: two racks, of which it hears one').toBe(false);
});
