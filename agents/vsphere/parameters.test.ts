import { describe, expect, it } from 'vitest';

import { configuredServers } from './configuration-file.ts';
import { vsphere } from './definition.ts';
import { placeOf, settingsOf } from './parameters.ts';

const UUID = '422e4956-ad22-1139-6d72-59cc8f26bc90';
/** The same machine, as its kubelet shows it (both from kubernetes/cloud-provider-vsphere, util.go). */
const OF_KUBELET = '56492e42-22ad-3911-6d72-59cc8f26bc90';

describe('the parameters of vsphere', () => {
  it.each([
    [`vsphere://${UUID.toUpperCase()}`, { plug: UUID, parameters: {} }],
    ['vsphere://4212', undefined],
    ['vsphere://', undefined],
    ['aws:///zone/i-1', undefined],
  ])('of the providerID %s', (providerID, address) => {
    expect(vsphere.instanceOf?.(providerID)).toEqual(address);
  });

  it('refuse a UUID that is not that of the providerID, in neither byte order', () => {
    const identity = { node: 'a', providerID: `vsphere://${UUID}` };
    expect(vsphere.plugProblem?.(UUID, {}, identity)).toBeUndefined();
    expect(vsphere.plugProblem?.(OF_KUBELET, {}, identity)).toBeUndefined();
    expect(vsphere.plugProblem?.('a name', {}, identity)).toBeUndefined();
    expect(vsphere.plugProblem?.('11111111-2222-3333-4444-555555555555', {}, identity)).toContain(`the providerID names ${UUID}`);
    expect(vsphere.plugProblem?.('', {}, identity)).toContain('plug is missing');
  });

  it.each([
    ['vc.example', 'https vc.example 443'],
    ['VC.example:8443', 'https vc.example 8443'],
    ['https://vc.example/sdk', 'https vc.example 443'],
    ['http://127.0.0.1:8989/sdk/', 'http 127.0.0.1 8989'],
    ['https://user:word@vc.example', 'https vc.example 443'],
    ['2001:db8::1', 'https 2001:db8::1 443'],
    ['[2001:db8::1]:8443', 'https 2001:db8::1 8443'],
    ['vc.example/ui', 'none'],
    ['vc example', 'none'],
    ['vc.example:0', 'none'],
    ['vc.example:99999', 'none'],
    ['', 'none'],
  ])('read the address %j as %s', (written, place) => {
    const found = placeOf(written);
    expect(found === undefined ? 'none' : `${found.tls ? 'https' : 'http'} ${found.host} ${found.port}`).toBe(place);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['a SHA-1 thumbprint', { ssl_fingerprint: 'ab'.repeat(20) }, /SHA-1 thumbprint, which is too weak.*-fingerprint -sha256/],
    ['a fingerprint that is none', { ssl_fingerprint: 'ab' }, /must be a SHA-256 fingerprint/],
    ['a user without a password', { username: 'fence' }, /password is missing/],
    ['a password without a user', { password: 'x' }, /username is missing/],
    ['trust in anybody and in one', { ssl_insecure: 'yes', ssl_fingerprint: 'ab'.repeat(32) }, /remove one/],
    ['certificates that are not verified', { ssl_secure: 'no' }, /contradict each other/],
    ['no address', { ip: 'vc example' }, /ip must be a host name or an address/],
  ])('refuse %s', (_name, parameters, words) => {
    const settings = settingsOf(parameters);
    expect('problems' in settings ? settings.problems.join('; ') : 'none').toMatch(words);
    expect(vsphere.check(parameters, true)).not.toEqual([]);
  });

  it('need nothing where the environment tells, and no password where Secrets are not at hand', () => {
    expect(vsphere.check({}, true)).toEqual([]);
    expect(vsphere.check({ ip: 'vc.example', username: 'fence' }, false)).toEqual([]);
  });

  it('make one queue of a vCenter, however it is written', () => {
    const keys = [{ ip: 'VC.example' }, { ipaddr: 'vc.example', ipport: '443' }, { server: 'https://vc.example/sdk' }].map((each) =>
      vsphere.deviceKey(each),
    );
    expect(new Set(keys)).toEqual(new Set(['vsphere vc.example']));
    expect(vsphere.deviceKey({})).toBe('vsphere');
  });

  it('of a configuration file know each spelling', () => {
    const yaml = configuredServers('global: { insecure_flag: true, server: vc.example, port: 8443, user: u, password: p, thumbprint: x }');
    const ini = configuredServers(
      '[Global]\ninsecure-flag = true\nserver = vc.example\nport = 8443\nuser = u\npassword = "p"\nthumbprint = x\n[Labels]\nzone = z\n',
    );
    expect(yaml).toEqual(ini);
    expect(ini?.servers).toEqual([
      { server: 'vc.example', port: 8443, user: 'u', password: 'p', caFile: undefined, thumbprint: 'x', isInsecure: true, secret: undefined },
    ]);
  });
});
