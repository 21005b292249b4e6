import { describe, expect, it } from 'vitest';

import { method, planOf } from '../../domain/testing/model.ts';
import { probeProblems } from './probe-problems.ts';
import type { ProbeResult } from './probe-result.ts';
import type { ReportedNode } from './report.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const DAY_MS = 86_400_000;

function told(ends: Pick<ProbeResult, 'certificateExpiresAt' | 'credentialExpiresAt'>): string[] {
  const device: ProbeResult = {
    ...{ agent: 'redfish', device: '192.0.2.1:443', plug: '', methods: ['off'] },
    ...{ state: 'on', identity: 'verified', latencyMs: 1, ...ends },
  };
  const node = { facts: { name: 'a' }, plan: planOf(), devices: [device] } as unknown as ReportedNode;
  return probeProblems([node], undefined, NOW).map(({ severity, message }) => `${severity}: ${message}`);
}

const inDays = (days: number): string => new Date(NOW + days * DAY_MS).toISOString();

describe('a probe', () => {
  it('demands that a port shows whose it is where its storage counts as revoked by it, as a fence would', () => {
    const ofPort = (storage: object): string[] => {
      const port = method('close', 'fc-switch', 'off', { kind: 'fabric', device: 'san', plug: '0/7', ...storage });
      const device: ProbeResult = {
        ...{ agent: 'fc-switch', device: 'san', plug: '0/7', methods: ['close'] },
        ...{ state: 'open', identity: 'unverified', detail: 'port 7', latencyMs: 1 },
      };
      const plan = planOf({ isolation: [{ level: 1, methods: [port] }] });
      const node = { facts: { name: 'a', systemUUID: 'u' }, plan, devices: [device] } as unknown as ReportedNode;
      return probeProblems([node], undefined, NOW).map(({ severity }) => severity);
    };
    expect(ofPort({ storage: 'san' })).toEqual(['error']);
    expect(ofPort({})).toEqual([]);
    expect(ofPort({ storage: 'san', identity: 'unverified' })).toEqual([]);
  });

  it('warns of a certificate, or a password, that ends within 30 days, and of one that is over', () => {
    expect(told({ certificateExpiresAt: inDays(30) })[0]).toMatch(/^warning: its certificate ends at 2026-01-31T00:00:00.000Z, within 30 day/);
    expect(told({ certificateExpiresAt: inDays(-1) })[0]).toMatch(/^warning: its certificate ended at 2025-12-31/);
    expect(told({ credentialExpiresAt: inDays(3) })[0]).toMatch(/^warning: its password ends at /);
  });

  it('says nothing of one that ends later, that the device does not tell, or that cannot be read', () => {
    expect([told({ certificateExpiresAt: inDays(30.1) }), told({}), told({ certificateExpiresAt: 'soon' })]).toEqual([[], [], []]);
  });
});
