import { describe, expect, it } from 'vitest';

import { isHost } from './host-text.ts';

describe('The host of a device', () => {
  it.each([
    'bmc-a',
    'bmc_a.example.com',
    '1.example.com',
    'bmc-1.1',
    '10.0.0.1',
    '::1',
    '[::1]',
    'fe80::1%eth0',
    '[fe80::1%eth0.7]',
    '::ffff:10.0.0.1',
  ])('may be %s', (text) => {
    expect(isHost(text)).toBe(true);
  });

  it.each([
    '',
    '[::1',
    '::1]',
    '[[::1]]',
    '[10.0.0.1]',
    '10.0.0.256',
    '10.0.0.010',
    '10.0.1',
    '10.0.0.1.',
    '10',
    ':',
    '::1::',
    'a b',
    '-H',
    '10.0.0.1:443',
    'a/b',
    'fe80::1%',
    'fe80::1%a%b',
    'fe80::1%e/0',
    'a\n',
  ])('is not %j', (text) => {
    expect(isHost(text)).toBe(false);
  });
});
