import snmp from 'net-snmp';
import { beforeEach, describe, expect, it } from 'vitest';

import { ANY_ADDRESS } from '../address/address-check.ts';
import { Link } from './link.ts';
import type { SnmpSettings, User } from './settings.ts';

const ENGINE = Buffer.from('8000000001020304', 'hex');
const SHA = snmp.AuthProtocols.sha;

function settings(password: string, privacy: string): SnmpSettings {
  const security: User = {
    version: '3',
    name: 'fence',
    context: '',
    authentication: { protocol: 'SHA', password },
    privacy: { protocol: 'AES', password: privacy },
  };
  return { host: '127.0.0.1', port: 9, family: undefined, tryMs: 100, security };
}

describe('A session of SNMP 3', () => {
  // Other files of this process leave keys of theirs.
  beforeEach(() => {
    for (const name of Object.keys(snmp.Authentication.authToKeyCache)) Reflect.deleteProperty(snmp.Authentication.authToKeyCache, name);
  });

  it('leaves no password of its own in memory when it is closed, and those of others alone', async () => {
    const link = await Link.open(settings('planted-authentication', 'planted-privacy'), ANY_ADDRESS);
    for (const password of ['planted-authentication', 'planted-privacy', 'of-another-device'])
      snmp.Authentication.passwordToKey(SHA, password, ENGINE);
    expect(Object.keys(snmp.Authentication.authToKeyCache)).toHaveLength(3);
    link.close();
    expect(Object.keys(snmp.Authentication.authToKeyCache)).toEqual([expect.stringContaining('of-another-device')]);
  });
});
