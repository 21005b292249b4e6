import { describe, expect, it } from 'vitest';
import type { ApiEvent } from '../../../src/laws/trace.ts';
import { sweptScenario } from '../sweep.ts';
import { HeldHosts } from './held-hosts.ts';

const HOLD = 'reboot.metal3.io/machine-remediation';

function host(node: string, annotations: Record<string, string>, status = 200): ApiEvent {
  const object = { metadata: { name: `host-${node}`, annotations } };
  return { kind: 'api', at: 0, user: 'nodefence', verb: 'patch', resource: 'baremetalhosts.metal3.io', name: `host-${node}`, status, object };
}

/** Three nodes, of which one may be down. */
function heldHosts(down: readonly string[] = []): HeldHosts {
  const base = sweptScenario('taint');
  const scenario = { ...base, nodes: ['a', 'b', 'c'], configuration: { ...base.configuration, policies: 'prompt' as const } };
  return new HeldHosts(scenario, (node) => down.includes(node));
}

describe('hosts that are held off', () => {
  it('are too many where another one was held by the same process before, until that is let go', () => {
    const hosts = heldHosts();
    expect(hosts.heard(host('a', { [HOLD]: '{}' }), 'p', 0)).toBeUndefined();
    expect(hosts.heard(host('a', { [HOLD]: '{}', more: 'x' }), 'p', 1), 'it is held already').toBeUndefined();
    expect(hosts.heard(host('b', { 'reboot.metal3.io/metal3-remediation-1': '{}' }), 'p', 2)).toContain('held off although a of 3 nodes');
    hosts.heard(host('a', {}), 'operator', 3);
    hosts.heard(host('b', {}), 'p', 4);
    expect(hosts.heard(host('c', { [HOLD]: '{}' }), 'p', 5)).toBeUndefined();
  });

  it('count for ten minutes where they do not obey', () => {
    const hosts = heldHosts();
    hosts.heard(host('a', { [HOLD]: '{}' }), 'p', 0);
    expect(hosts.heard(host('b', { [HOLD]: '{}' }), 'p', 600_000)).toBeUndefined();
  });

  it('are too many where another node is down; what a process before held is not counted, nor what others do to hosts', () => {
    expect(heldHosts(['c']).heard(host('a', { [HOLD]: '{}' }), 'p', 0)).toContain('although c of 3 nodes are down');
    const hosts = heldHosts();
    hosts.heard(host('a', { [HOLD]: '{}' }), 'p', 0);
    expect(hosts.heard(host('b', { [HOLD]: '{}' }, 409), 'p', 1)).toBeUndefined();
    expect(hosts.heard(host('b', { 'reboot.metal3.io': '{}' }), 'p', 1)).toBeUndefined();
    expect(hosts.heard(host('b', { [HOLD]: '{}' }), 'q', 1)).toBeUndefined();
  });
});
