import { describe, expect, it } from 'vitest';
import type { Attestation } from '../../domain/node-daemon/attestation.ts';
import { reportOf } from './daemon-report.ts';

const ATTESTED: Attestation = { bootID: 'boot', systemUUID: '4c4c4544-0042-3510-8051-b7c04f4e4d32', peers: [] };
const HEARD = { signs: 0, isSilent: false, at: '2026-01-01T00:00:00Z' };
const messageFor = (more: Partial<Attestation>): string | undefined => reportOf('a', { ...ATTESTED, ...more }, undefined, HEARD)?.message;

describe('the report of a daemon', () => {
  it('shows a BMC that the node proposes as nothing but a proposal', () => {
    expect(messageFor({ proposedBmc: { address: '198.51.100.7', mac: '02:00:5e:00:53:0a' } })).toBe(
      'Heartbeats come; they say: nothing else. No watchdog. The node does not fence itself. BMC, proposed by the node and not used: 198.51.100.7, MAC 02:00:5e:00:53:0a, system UUID 4c4c4544-0042-3510-8051-b7c04f4e4d32; once it is found right, put it into a ConfigMap of the fence configuration.',
    );
  });

  it('lets a node say no words beside its address', () => {
    expect(messageFor({ systemUUID: 'approved by the admin', proposedBmc: { address: '198.51.100.7' } })).toContain(
      'not used: 198.51.100.7, system UUID unknown;',
    );
  });

  it('says nothing of a BMC that is not proposed', () => {
    expect(messageFor({})).toBe('Heartbeats come; they say: nothing else. No watchdog. The node does not fence itself.');
  });

  it('shows the last order, and none of the words of the node', () => {
    const orders = [{ id: 'a', action: 'reboot' as const, state: 'failed' as const, words: 'approved by the admin' }];
    expect(messageFor({ orders })).toBe(
      'Heartbeats come; they say: nothing else. No watchdog. The node does not fence itself. Last order in this boot: reboot, failed.',
    );
  });
});
