import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createAuthority } from '../../src/testbed/certificates.ts';
import { redfish } from './definition.ts';
import { normalUUID } from '../shared/machine-uuid.ts';
import { checkIdentity, isSameMachine } from './identity.ts';
import { connectionKey, deviceKeyOf, parseSettings } from './parameters.ts';

const GOOD = { ip: '192.0.2.10', username: 'admin', password: 'secret' };

function settings(parameters: Record<string, string>) {
  const parsed = parseSettings({ ...GOOD, ...parameters });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  return parsed;
}

describe('parameters', () => {
  it('are complete with an address and credentials, safe by default', () => {
    expect(redfish.check(GOOD, true)).toEqual([]);
    expect(settings({})).toMatchObject({ tls: true, port: 443, insecure: false, auth: 'auto', chassisWitness: true });
  });

  it('may be spelt as the ClusterLabs agent spells them', () => {
    const parsed = parseSettings({ ipaddr: '192.0.2.10', login: 'admin', passwd: 'secret', ipport: '8443', 'systems-uri': '/redfish/v1/Systems/1' });
    expect(parsed).toMatchObject({ host: '192.0.2.10', port: 8443, username: 'admin', password: 'secret', systemsUri: '/redfish/v1/Systems/1' });
  });

  it('name what is missing; credentials may still come from a Secret while that is not at hand', () => {
    expect(redfish.check({}, true).map((problem) => problem.parameter)).toEqual(['ip', 'username', 'password']);
    expect(redfish.check({}, false).map((problem) => problem.parameter)).toEqual(['ip']);
    expect(redfish.check({ ...GOOD, password: '' }, true).map((problem) => problem.parameter)).toEqual(['password']);
  });

  it.each([
    [{ ip: 'https://192.0.2.10/' }, 'ip'],
    [{ ip: 'a b' }, 'ip'],
    [{ ipport: '0' }, 'ipport'],
    [{ ipport: '70000' }, 'ipport'],
    [{ ipport: 'https' }, 'ipport'],
    [{ ssl: 'maybe' }, 'ssl'],
    [{ ssl_insecure: '2' }, 'ssl_insecure'],
    [{ scheme: 'ftp' }, 'scheme'],
    [{ systems_uri: 'Systems/1' }, 'systems_uri'],
    [{ system_uuid: '1234' }, 'system_uuid'],
    [{ ca: 'no certificate' }, 'ca'],
    [{ ssl_fingerprint: 'ab:cd' }, 'ssl_fingerprint'],
    [{ auth: 'digest' }, 'auth'],
    [{ login_timeout: 'long' }, 'login_timeout'],
    [{ ssl: 'no', scheme: 'https' }, 'ssl'],
    [{ ssl_insecure: 'yes', ssl_fingerprint: 'ab'.repeat(32) }, 'ssl'],
  ] as const)('refuse %o', (parameters, name) => {
    expect(redfish.check({ ...GOOD, ...parameters }, true).map((problem) => problem.parameter)).toContain(name);
    expect(parseSettings({ ...GOOD, ...parameters })).toHaveProperty('problems');
  });

  it.each([
    ['0', false],
    ['no', false],
    ['off', false],
    ['FALSE', false],
    ['1', true],
    ['yes', true],
    ['On', true],
    ['true', true],
  ])('read ssl_insecure=%s as %s', (text, value) => {
    expect(settings({ ssl_insecure: text }).insecure).toBe(value);
  });

  it('never quote a value in a problem', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12, maxLength: 40, unit: fc.constantFrom('x', 'Q', '7', '#', ' ') }), (value) => {
        const all = Object.fromEntries(redfish.describe().map(({ name }) => [name, value]));
        const said = JSON.stringify(redfish.check(all, true)) + JSON.stringify(parseSettings(all));
        expect('problems' in parseSettings(all) && said.includes(value)).toBe(false);
      }),
    );
  });

  it('take a certificate on one line, as a properties file must write it', () => {
    const pem = createAuthority('x').certificatePem;
    expect(settings({ ca: pem.replaceAll('\n', '\\n') }).ca).toBe(pem);
  });

  it('are all documented, and the password alone is secret', () => {
    const described = redfish.describe();
    expect(described.every((parameter) => parameter.description.length > 5)).toBe(true);
    expect(described.filter((parameter) => parameter.secret).map((parameter) => parameter.name)).toEqual(['password']);
  });
});

describe('the device key', () => {
  it('is one for one BMC, however it is written', () => {
    expect(deviceKeyOf({ ip: 'BMC1.example' })).toBe('bmc1.example:443');
    expect(deviceKeyOf({ ipaddr: 'bmc1.example', ipport: '0443' })).toBe('bmc1.example:443');
    expect(deviceKeyOf({ ip: 'bmc1.example', ssl: 'no' })).toBe('bmc1.example:80');
    expect(deviceKeyOf({ ip: '2001:DB8::1' })).toBe('[2001:db8::1]:443');
    expect(deviceKeyOf({ ip: '[2001:db8::1]' })).toBe('[2001:db8::1]:443');
  });

  it('of a connection differs with credentials and trust, and shows neither', () => {
    const key = connectionKey(settings({}));
    expect(connectionKey(settings({ password: 'other secret' }))).not.toBe(key);
    expect(connectionKey(settings({ ssl_insecure: 'yes' }))).not.toBe(key);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('identity', () => {
  const UUID = '00112233-4455-6677-8899-aabbccddee00';
  const SWAPPED = '33221100-5544-7766-8899-aabbccddee00';

  it('holds in either byte order, with or without dashes, in either case', () => {
    for (const shown of [UUID, SWAPPED, UUID.toUpperCase(), UUID.replaceAll('-', ''), ` ${UUID} `, `urn:uuid:${UUID}`]) {
      expect(checkIdentity(shown, UUID).kind).toBe('verified');
    }
  });

  it('fails for any other machine', () => {
    const real = fc.uuid().filter((each) => normalUUID(each) !== undefined);
    fc.assert(
      fc.property(real, real, (left, right) => {
        expect(checkIdentity(left, right).kind).toBe(isSameMachine(normalUUID(left)!, normalUUID(right)!) ? 'verified' : 'other');
        expect(checkIdentity(left, left).kind).toBe('verified');
      }),
    );
    expect(checkIdentity('00112233-4455-6677-8899-aabbccddee01', UUID).kind).toBe('other');
  });

  it.each([
    null,
    undefined,
    '',
    'unknown',
    42,
    '00000000-0000-0000-0000-000000000000',
    'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
    '03000200-0400-0500-0006-000700080009',
  ])('is not proven by %j', (shown) => {
    expect(checkIdentity(shown, UUID).kind).toBe('unverified');
    expect(checkIdentity(shown, String(shown)).kind).toBe('unverified');
  });

  it('is not proven when nothing is recorded', () => {
    expect(checkIdentity(UUID, undefined).kind).toBe('unverified');
  });
});
