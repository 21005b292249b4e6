import { describe, expect, it } from 'vitest';
import { PathMetrics } from './metrics.ts';
import type { Path } from './path.ts';

const WALL_MS = Date.parse('2026-01-01T00:00:00Z');

function path(agent: string, expiresAtMs?: number): Path {
  const read = { readAtMs: 1_000, isRead: true, isBroken: false, failures: 0, ...(expiresAtMs !== undefined && { expiresAtMs }) };
  return { method: { agent }, ...read } as unknown as Path;
}

/** What the gauges show after each look. */
function shown(...looks: readonly (readonly Path[])[]): Record<string, number | undefined>[] {
  const now: Record<string, number | undefined> = {};
  const metrics = new PathMetrics({
    devices: (agent, { reachable }) => (now[`${agent} reachable`] = reachable),
    strangers: () => undefined,
    oldestProbe: (agent, ageMs) => (now[`${agent} age`] = ageMs),
    credentialExpiry: (agent, remainingMs) => (now[`${agent} expiry`] = remainingMs),
  });
  return looks.map((paths) => {
    metrics.show(paths, 61_000, WALL_MS);
    return { ...now };
  });
}

describe('the gauges of devices', () => {
  it('say nothing of the age and the credentials of an agent that is configured no more', () => {
    const [before, after] = shown([path('redfish', WALL_MS - 5_000)], []);
    expect(before).toEqual({ 'redfish reachable': 1, 'redfish age': 60_000, 'redfish expiry': -5_000 });
    expect(after).toEqual({ 'redfish reachable': 0, 'redfish age': undefined, 'redfish expiry': undefined });
  });

  it('say of no credential that it ends where none does any more', () => {
    const [, after] = shown([path('redfish', WALL_MS - 5_000)], [path('redfish')]);
    expect(after).toMatchObject({ 'redfish reachable': 1, 'redfish age': 60_000, 'redfish expiry': undefined });
  });
});
