import { describe, expect, it } from 'vitest';

import { portOfNxos } from './nxos.ts';

describe('what NX-OS shows of a Fibre Channel port', () => {
  it.each([
    ['fc1/7 is up', 'open'],
    ['fc1/7 is trunking', 'open'],
    ['fc1/7 is trunking (Not all VSANs UP on the trunk)', 'open'],
    ['fc1/7 is down (Link failure or not-connected)', 'open'],
    ['fc1/7 is down (Administratively down)', 'closed'],
    ['fc1/7 is trunking (Administratively down)', 'pending'],
    ['fc1/7 is down (SFP not present)', 'open'],
  ] as const)('is, where its head says %j, %s', (head, state) => {
    expect(portOfNxos([head, '    Port description is worker-1', '    Admin port mode is auto, trunk mode is on'])).toMatchObject({
      name: 'fc1/7',
      description: 'worker-1',
      state,
      hasLink: !head.includes('is down'),
    });
  });

  it.each(['fc1/7 is initializing', 'fc1/7 is trunking and more', ''])('is nothing where its head says %j', (head) => {
    expect(portOfNxos([head])).toBeUndefined();
  });
});
