import { expect, it } from 'vitest';
import { ATTESTATION } from '../../domain/node-daemon/attestation.ts';
import type { Lease } from '../../ports/objects.ts';
import { nodeDaemonWarnings } from './node-daemons.ts';

const WATCHDOG = { state: 'armed', kind: 'hardware', action: 'reset', isPausable: false, timeoutMs: 10_000 };
const TIMES = { grantMs: 5_000, isolationTimeoutMs: 40_000, podStopMaxMs: 30_000, resetTimeMs: 10_000 };

function lease(name: string, attestation: object): Lease {
  const whole = JSON.stringify({ bootID: 'b', systemUUID: 'u', peers: [], ...attestation });
  return { metadata: { name, annotations: { [ATTESTATION]: whole } }, spec: {} };
}
const cluster = (text: string) => [{ name: 'fence-cluster-config', data: { 'config.properties': text } }];

it('says nothing of nodes that run with what is configured, nor of other Leases', () => {
  const leases = [
    lease('nodefence-node-a', { watchdog: WATCHDOG, selfFence: TIMES }),
    lease('nodefence-controller', {}),
    lease('nodefence-node-b', {}),
  ];
  expect(nodeDaemonWarnings(leases, [])).toEqual([]);
  expect(nodeDaemonWarnings(leases, cluster('isolation_timeout=40s\n'))).toEqual([]);
});

it('warns of a node that attests other times than are configured', () => {
  const found = nodeDaemonWarnings(
    [lease('nodefence-node-a', { watchdog: WATCHDOG, selfFence: TIMES })],
    cluster('isolation_timeout=60s\nwatchdog_timeout=15s\n'),
  );
  expect(found).toEqual([
    {
      severity: 'warning',
      where: 'Lease nodefence-node-a',
      message: expect.stringContaining(
        'node a attests watchdog_timeout 10 s instead of 15 s, isolation_timeout 40 s instead of 60 s: restart its daemon',
      ) as string,
      steps: [],
      nodes: ['a'],
    },
  ]);
});

it('warns of times that prove nothing, and does not compare with a configuration that is told to nobody', () => {
  const leases = [lease('nodefence-node-a', { watchdog: WATCHDOG, selfFence: { ...TIMES, isolationTimeoutMs: 20_000 } })];
  const found = nodeDaemonWarnings(leases, cluster('api_failover=60s\n'));
  expect(found.map(({ message }) => message)).toEqual([
    expect.stringContaining('the watchdog of node a proves nothing: timing rule 5: isolation_timeout 20 s'),
  ]);
});

it('warns of half an attestation', () => {
  expect(nodeDaemonWarnings([lease('nodefence-node-a', { bootID: '' })], [])).toHaveLength(1);
});
