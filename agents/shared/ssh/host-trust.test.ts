import { createHmac } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { fingerprintOf, hostKeyAlgorithms, judgeHostKey, parseKnownHosts } from './host-trust.ts';
import type { HostTrust } from './host-trust.ts';

function keyOf(type: string, filler: string): Buffer {
  const [name, body] = [Buffer.from(type), Buffer.from(filler.repeat(32))];
  const part = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  return Buffer.concat([part(name), part(body)]);
}

const KEY = keyOf('ssh-ed25519', 'a');
const OTHER = keyOf('ssh-ed25519', 'b');
const RSA = keyOf('ssh-rsa', 'c');

function line(hosts: string, key = KEY, marker = ''): string {
  return `${marker}${hosts} ${key.toString('latin1', 4, 4 + (key[3] ?? 0))} ${key.toString('base64')} a comment`;
}

function known(...lines: string[]): HostTrust {
  const parsed = parseKnownHosts(lines.join('\n'));
  if ('problem' in parsed) throw new Error(parsed.problem);
  return { kind: 'known-hosts', entries: parsed.entries };
}

function hashed(name: string): string {
  const salt = Buffer.from('0123456789abcdefghij');
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
}

describe('known_hosts', () => {
  it.each([
    ['its name', line('switch.example'), 22],
    ['its name among several', line('a,switch.example,10.0.0.1'), 22],
    ['a name in other letters', line('Switch.Example'), 22],
    ['a pattern', line('*.example'), 22],
    ['a hashed name', line(hashed('switch.example')), 22],
    ['a port of its own', line('[switch.example]:2222'), 2222],
    ['a hashed name with a port', line(hashed('[switch.example]:2222')), 2222],
    ['port 22 written out', line('[switch.example]:22'), 22],
    ['one of two keys', `${line('switch.example', OTHER)}\n${line('switch.example')}`, 22],
    ['a line after comments and blanks', `# all\n\n${line('switch.example')}`, 22],
  ])('trusts a host by %s', (_what, text, port) => {
    expect(judgeHostKey(known(text), 'switch.example', port, KEY)).toEqual({ trusted: true });
  });

  it.each([
    ['another key', line('switch.example', OTHER), 22, /another key for switch\.example/],
    ['no line', line('elsewhere.example'), 22, /no line for switch\.example/],
    ['a line for another port', line('switch.example'), 2222, /no line for \[switch\.example\]:2222/],
    ['a negated pattern', line('*.example,!switch.example'), 22, /no line/],
    ['a dot that is no dot', line('switchXexample'), 22, /no line/],
    ['a revoked key', `${line('switch.example')}\n${line('*', KEY, '@revoked ')}`, 22, /@revoked/],
    ['an authority only', line('*', OTHER, '@cert-authority '), 22, /certificates are not understood/],
    ['the key of an authority', line('*', KEY, '@cert-authority '), 22, /certificates are not understood/],
  ])('does not trust a host by %s', (_what, text, port, why) => {
    const decision = judgeHostKey(known(text), 'switch.example', port, KEY);
    expect(decision).toMatchObject({ trusted: false });
    expect('why' in decision && decision.why).toMatch(why);
  });

  it.each([
    ['', /no line with a key/],
    ['# nothing', /no line with a key/],
    ['switch.example', /line 1/],
    [`${line('a')}\nb ssh-ed25519 AAAA`, /line 2/],
    [`a ssh-rsa ${KEY.toString('base64')}`, /line 1/],
    [line('a', KEY, '@strange '), /marker/],
  ])('refuses %j as a file', (text, problem) => {
    const parsed = parseKnownHosts(text);
    expect('problem' in parsed && parsed.problem).toMatch(problem);
  });

  it('asks for keys of the kinds that it knows of the host, so that another of its keys is not taken for a changed one', () => {
    const trust = known(line('switch.example', RSA), line('elsewhere'));
    expect(hostKeyAlgorithms(trust, 'switch.example', 22)).toEqual(['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa']);
    expect(hostKeyAlgorithms(trust, 'unknown', 22)).toBeUndefined();
  });
});

describe('a pinned host key', () => {
  it('is trusted, and no other', () => {
    const trust: HostTrust = { kind: 'pinned', fingerprints: ['SHA256:x', fingerprintOf(KEY)] };
    expect(judgeHostKey(trust, 'any', 22, KEY)).toEqual({ trusted: true });
    expect(judgeHostKey(trust, 'any', 22, OTHER)).toMatchObject({ why: expect.stringContaining(fingerprintOf(OTHER)) as string });
  });
});
