import { describe, expect, it } from 'vitest';

import { ovirt } from './definition.ts';
import { settingsOf } from './parameters.ts';
import { placeOf } from './place.ts';

const ID = '422e4956-ad22-1139-6d72-59cc8f26bc90';

describe('the parameters of ovirt', () => {
  it.each([
    [`ovirt://${ID.toUpperCase()}`, { plug: ID, parameters: {} }],
    ['ovirt://4212', undefined],
    ['ovirt://', undefined],
    [`vsphere://${ID}`, undefined],
  ])('of the providerID %s', (providerID, address) => {
    expect(ovirt.instanceOf?.(providerID)).toEqual(address);
  });

  it('refuse an id that is not that of the providerID, and what can be no name', () => {
    const identity = { node: 'a', providerID: `ovirt://${ID}` };
    expect(ovirt.plugProblem?.(ID.toUpperCase(), {}, identity)).toBeUndefined();
    expect(ovirt.plugProblem?.('worker-1.example', {}, identity)).toBeUndefined();
    expect(ovirt.plugProblem?.('11111111-2222-3333-4444-555555555555', {}, identity)).toContain(`the providerID names ${ID}`);
    expect(ovirt.plugProblem?.('worker*', {}, identity)).toContain('neither an id nor the name');
    expect(ovirt.plugProblem?.('', {}, identity)).toContain('plug is missing');
  });

  it.each([
    ['engine.example', 'https engine.example 443 /ovirt-engine/api'],
    ['ENGINE.example:8443', 'https engine.example 8443 /ovirt-engine/api'],
    ['https://engine.example/ovirt-engine/api', 'https engine.example 443 /ovirt-engine/api'],
    ['https://engine.example:443/api/', 'https engine.example 443 /api'],
    ['http://127.0.0.1:8080', 'http 127.0.0.1 8080 /ovirt-engine/api'],
    ['https://user:word@engine.example/ovirt-engine/api', 'https engine.example 443 /ovirt-engine/api'],
    ['2001:db8::1', 'https 2001:db8::1 443 /ovirt-engine/api'],
    ['[2001:db8::1]:8443', 'https 2001:db8::1 8443 /ovirt-engine/api'],
    ['engine.example/ovirt-engine/api', 'none'],
    ['engine example', 'none'],
    ['engine.example:0', 'none'],
    ['engine.example:99999', 'none'],
    ['ftp://engine.example', 'none'],
    ['', 'none'],
  ])('read the address %j as %s', (written, place) => {
    const found = placeOf(written);
    expect(found === undefined ? 'none' : `${found.tls ? 'https' : 'http'} ${found.host} ${found.port} ${found.path}`).toBe(place);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['a user without a password', { username: 'fence' }, /password is missing/],
    ['a password without a user', { password: 'x' }, /username is missing/],
    ['trust in anybody and in one', { ssl_insecure: 'yes', ssl_fingerprint: 'ab'.repeat(32) }, /remove one/],
    ['certificates that are not verified', { ssl_secure: 'no' }, /contradict each other/],
    ['no address', { ip: 'engine example' }, /ip must be a host name or an address/],
    ['version 3 of the API', { api_version: '3' }, /api_version must be 4 or auto/],
    ['a path that is none', { api_path: '/ovirt-engine/api?x=' }, /api_path must be a path/],
    ['a filter that is neither yes nor no', { disable_http_filter: 'perhaps' }, /must be yes or no/],
  ])('refuse %s', (_name, parameters, words) => {
    const settings = settingsOf(parameters);
    expect('problems' in settings ? settings.problems.join('; ') : 'none').toMatch(words);
    expect(ovirt.check(parameters, true)).not.toEqual([]);
  });

  it('need nothing where the environment tells, and no password where Secrets are not at hand', () => {
    expect(ovirt.check({}, true)).toEqual([]);
    expect(ovirt.check({ ip: 'engine.example', username: 'fence@internal' }, false)).toEqual([]);
  });

  it('make one queue of an engine, however it is written', () => {
    const keys = [{ ip: 'ENGINE.example' }, { ipaddr: 'engine.example', ipport: '443' }, { server: 'https://engine.example/ovirt-engine/api' }];
    expect(new Set(keys.map((each) => ovirt.deviceKey(each)))).toEqual(new Set(['ovirt engine.example']));
    expect(ovirt.deviceKey({})).toBe('ovirt');
  });
});
