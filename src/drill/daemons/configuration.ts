import type { ConfigMap } from '../../ports/objects.ts';
import { SHORT_SETTINGS } from '../run/options.ts';
import { configMap, POLICIES, policyConfigMaps, properties } from '../run/scene-configuration.ts';
import { WORLD } from '../faults/names.ts';
import type { DaemonFencing } from './played.ts';
import { TIMES } from './times.ts';

/** What Kubernetes waits for before it takes a node for failed. */
const KUBERNETES_GRACE_MS = 40_000;
/** The delays of profile=fast, and none before the off: what is left is detection and proof. */
export const FAST = { fast_detection: 'yes', isolation_delay: '0s', power_management_delay: '0s', node_grace: '40s' };
const EVIDENCE = 'power-off,instance-stopped,host-off,storage-revoked,ack,watchdog';

/** As Kubernetes takes it. */
export function nodeGraceMs(fencing: DaemonFencing): number {
  return fencing === 'bmc' ? KUBERNETES_GRACE_MS : WORLD.nodeGraceMs;
}

export function daemonTimes(): Record<string, string> {
  const times = {
    grant_validity: TIMES.grantMs,
    watchdog_timeout: TIMES.watchdogMs,
    isolation_timeout: TIMES.isolationTimeoutMs,
    pod_stop_max: TIMES.podStopMaxMs,
    reset_time: TIMES.resetTimeMs,
  };
  return Object.fromEntries(Object.entries(times).map(([key, ms]) => [key, `${String(ms)}ms`]));
}

/** Nodes that are fenced by their own watchdogs, or never. */
export function watchdogConfiguration(nodes: readonly string[], isFenced: boolean): ConfigMap[] {
  const plan = { isolation: 'cordon', power_management: 'itself', recovery: 'uncordon', minimum_evidence: EVIDENCE };
  return [
    configMap('fence-cluster-config', { 'config.properties': properties({ ...SHORT_SETTINGS, ...daemonTimes() }) }),
    ...policyConfigMaps(POLICIES),
    ...nodes.map((node) =>
      configMap(`fence-config-${node}`, {
        'config.properties': properties({ node_name: node, ...(isFenced ? plan : { fence: 'never' }) }),
        ...(isFenced && { 'fence-method-itself': properties({ agent_name: 'watchdog', wait: '3m' }) }),
      }),
    ),
  ];
}
