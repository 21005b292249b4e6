import { expect, it } from 'vitest';

import { SystemClock } from '../../src/runtime/system-clock.ts';
import { Call } from '../shared/call.ts';
import type { PortView } from '../shared/interfaces/port-view.ts';
import { testTarget } from '../shared/ssh/testing/target.ts';
import { NxApi } from './nx-api.ts';
import type { Web } from './web.ts';

/** What NX-API makes of one answer about port fc1/7. */
async function read(body: string): Promise<PortView> {
  const call = new Call(new SystemClock(), testTarget(), 'port state');
  const output = { code: '200', body };
  const exchange = (): Promise<unknown> => Promise.resolve({ status: 200, headers: {}, body: { ins_api: { outputs: { output } } } });
  const web = { exchange, basic: '', describe: () => 'the answer' } as unknown as Web;
  try {
    return await new NxApi(web, call).read('fc1/7');
  } finally {
    call.release();
  }
}

it('a port that NX-API shows is the one that was asked for', async () => {
  expect(await read('fc1/7 is down (Administratively down)\n')).toMatchObject({ name: 'fc1/7', state: 'closed' });
  await expect(read('fc1/17 is down (Administratively down)\n')).rejects.toMatchObject({ kind: 'Unreachable' });
});
