import { describe, expect, it } from 'vitest';

import { proxmox } from './definition.ts';
import { isGranted } from './permissions.ts';
import { placesOf, proxmoxSettings } from './parameters.ts';

const UUID = '422e4956-ad22-1139-6d72-59cc8f26bc90';

describe('the parameters of proxmox', () => {
  it.each([
    ['proxmox://cluster-1/123', { plug: '123', parameters: { region: 'cluster-1' } }],
    ['proxmox:///123', { plug: '123', parameters: {} }],
    [`proxmox://${UUID.toUpperCase()}`, { plug: UUID, parameters: {} }],
    ['proxmox://cluster-1/99', undefined],
    ['proxmox://cluster-1/12x', undefined],
    ['proxmox://123', undefined],
    ['aws:///zone/i-1', undefined],
  ])('of the providerID %s', (providerID, address) => {
    expect(proxmox.instanceOf?.(providerID)).toEqual(address);
  });

  it('refuse a plug that the providerID does not name', () => {
    const ofNumber = { node: 'a', providerID: 'proxmox://r/123' };
    const ofUUID = { node: 'a', providerID: `proxmox://${UUID}` };
    expect(proxmox.plugProblem?.('123', {}, ofNumber)).toBeUndefined();
    expect(proxmox.plugProblem?.('worker-1', {}, ofNumber)).toBeUndefined();
    expect(proxmox.plugProblem?.('124', {}, ofNumber)).toBe('124 is another machine: the providerID names 123');
    expect(proxmox.plugProblem?.('124', {}, ofUUID)).toBeUndefined();
    expect(proxmox.plugProblem?.('11111111-2222-3333-4444-555555555555', {}, ofUUID)).toContain(`the providerID names ${UUID}`);
    expect(proxmox.plugProblem?.('', {}, ofUUID)).toContain('plug is missing');
    expect(proxmox.plugProblem?.('100/../101', {}, ofUUID)).toContain('is no number, no name and no UUID');
  });

  it.each([
    ['pve.example', 'https pve.example 8006'],
    ['pve1, pve2:8443', 'https pve1 8006, https pve2 8443'],
    ['https://pve.example:8006/api2/json', 'https pve.example 8006'],
    ['https://pve.example/', 'https pve.example 443'],
    ['http://127.0.0.1:8989', 'http 127.0.0.1 8989'],
    ['2001:db8::1', 'https 2001:db8::1 8006'],
    ['[2001:db8::1]:8443', 'https 2001:db8::1 8443'],
    ['pve.example/ui', 'none'],
    ['user:word@pve.example', 'none'],
    ['pve1, pve2:0', 'none'],
    ['', 'none'],
  ])('read the hosts %j as %s', (written, places) => {
    const found = placesOf(written);
    expect(found?.map(({ host, port, tls }) => `${tls ? 'https' : 'http'} ${host} ${port}`).join(', ') ?? 'none').toBe(places);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['a container', { vmtype: 'lxc' }, /shares the kernel of its host/],
    ['half a token', { token_id: 'a@pve!t' }, /token_secret is missing/],
    ['a token that is none', { api_token: 'very-secret' }, /api_token must be USER@REALM!NAME=SECRET/],
    ['a user without a password', { username: 'a@pve' }, /password is missing/],
    ['a token for a user', { username: 'a@pve!t', password: 'x' }, /a token is written as token_id and token_secret/],
    ['trust in anybody and in one', { ssl_insecure: 'yes', ssl_fingerprint: 'ab'.repeat(32) }, /remove one/],
    ['certificates that are not verified', { ssl_secure: 'no' }, /contradict each other/],
    ['no host', { ip: 'a b@c' }, /endpoint must be host names/],
  ])('refuse %s', (_name, parameters, words) => {
    const settings = proxmoxSettings(parameters);
    expect('problems' in settings ? settings.problems.join('; ') : 'none').toMatch(words);
    expect(JSON.stringify(settings)).not.toContain('very-secret');
  });

  it('are those of fence_pve', () => {
    const parameters = {
      ip: 'pve.example',
      login: 'root@pam',
      passwd: 'x',
      'pve-node-auto': '1',
      'pve-node': 'pve1',
      vmtype: 'qemu',
      ssl: '1',
      ipport: '8007',
    };
    expect(proxmox.check(parameters, true)).toEqual([]);
    expect(proxmoxSettings(parameters)).toMatchObject({
      places: [{ host: 'pve.example', port: 8007, tls: true }],
      auth: { kind: 'user', username: 'root@pam' },
    });
    expect(proxmox.deviceKey(parameters)).toBe('proxmox pve.example:8007');
  });
});

describe('a privilege', () => {
  it.each([
    ['on the path itself', { '/vms/100': { 'VM.PowerMgmt': 1 } }, true],
    ['on the path itself, not handed down', { '/vms/100': { 'VM.PowerMgmt': 0 } }, true],
    ['handed down from above', { '/': { 'VM.PowerMgmt': 1 } }, true],
    ['above, not handed down', { '/vms': { 'VM.PowerMgmt': 0 } }, false],
    ['on another machine', { '/vms/10': { 'VM.PowerMgmt': 1 } }, false],
    ['nowhere', {}, false],
    ['in no answer', null, false],
  ])('%s', (_name, data, is) => {
    expect(isGranted(data, '/vms/100', 'VM.PowerMgmt')).toBe(is);
  });
});
