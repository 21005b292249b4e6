import { describe, expect, it } from 'vitest';

import { SystemClock } from '../../src/runtime/system-clock.ts';
import { Call } from '../shared/call.ts';
import type { PortView } from '../shared/interfaces/port-view.ts';
import { testTarget } from '../shared/ssh/testing/target.ts';
import { FosRest } from './fos-rest.ts';
import type { Web } from './web.ts';

const CLOSED = { 'enabled-state': 6, 'operational-status': 3, 'persistent-disable': 1 };

/** What REST makes of one answer about port 7. */
async function read(fibrechannel: unknown): Promise<PortView> {
  const clock = new SystemClock();
  const call = new Call(clock, testTarget(), 'port state');
  const exchange = (): Promise<unknown> => Promise.resolve({ status: 200, headers: {}, body: { Response: { fibrechannel } } });
  const web = { exchange, basic: '', describe: () => 'the answer' } as unknown as Web;
  try {
    return await new FosRest(web, call, clock, undefined).read('token', '7');
  } finally {
    call.release();
  }
}

describe('a port that Fabric OS shows by REST', () => {
  it('is the one that was asked for, alone or among others', async () => {
    expect(await read({ name: '0/7', ...CLOSED })).toMatchObject({ name: '0/7', state: 'closed' });
    expect(
      await read([
        { name: '0/17', ...CLOSED, 'enabled-state': 2 },
        { name: '0/7', ...CLOSED },
      ]),
    ).toMatchObject({ state: 'closed' });
  });

  it('has a link where it is on line', async () => {
    const open = { ...CLOSED, 'enabled-state': 2, 'persistent-disable': 0 };
    expect(await read({ name: '0/7', ...open, 'operational-status': 2 })).toMatchObject({ state: 'open', hasLink: true });
    expect(await read({ name: '0/7', ...open })).toMatchObject({ state: 'open', hasLink: false });
  });

  it.each([
    ['another port', { name: '0/17', ...CLOSED }],
    ['the same number in another slot', { name: '1/7', ...CLOSED }],
    [
      'two ports of one name',
      [
        { name: '0/7', ...CLOSED },
        { name: '0/7', ...CLOSED },
      ],
    ],
    ['a port without a name', CLOSED],
    ['no port', undefined],
  ])('is unknown where it shows %s', async (_what, fibrechannel) => {
    expect(await read(fibrechannel)).toMatchObject({ name: '0/7', state: 'unknown' });
  });

  it.each([
    ['enabled-state', 2, 'pending'],
    ['operational-status', 2, 'pending'],
    ['persistent-disable', 0, 'pending'],
    ['enabled-state', 9, 'unknown'],
    ['operational-status', 9, 'unknown'],
    ['persistent-disable', 9, 'unknown'],
    ['persistent-disable', '1', 'closed'],
    ['persistent-disable', true, 'unknown'],
  ])('with %s %j is %s', async (key, value, state) => {
    expect(await read({ name: '0/7', ...CLOSED, [key]: value })).toMatchObject({ state });
  });
});
