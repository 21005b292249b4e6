import { CLUSTER_CONFIG, CONFIG_KEY } from '../../config/configuration.ts';
import type { Configuration, NamedConfig } from '../../config/configuration.ts';
import { timesOfCluster } from '../../config/daemon-times.ts';
import { clusterLayer } from '../../config/node-groups.ts';
import { resolvePolicies, writtenPolicies } from '../../config/policies.ts';
import { Problems } from '../../config/problems.ts';
import type { SurveyProblem } from '../../config/survey.ts';
import { nodeAttestedBy, parseAttestation } from '../../domain/node-daemon/attestation.ts';
import { brokenTimes, checkDaemonTiming, daemonTiming, differences } from '../../domain/node-daemon/times.ts';
import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import type { Lease } from '../../ports/objects.ts';

/** Where a node's daemon attests other times than are configured, or times that prove nothing; each a warning that names the node. */
export function nodeDaemonWarnings(leases: readonly Lease[], configMaps: readonly NamedConfig[]): SurveyProblem[] {
  const written = timesOfCluster(configMaps.find(({ name }) => name === CLUSTER_CONFIG)?.data[CONFIG_KEY]);
  // What breaks a rule is told to no daemon, and is a problem of its own.
  const isTold = checkDaemonTiming(daemonTiming(written)).every(({ severity }) => severity !== 'error');
  return leases.flatMap((lease) => {
    const node = nodeAttestedBy(lease.metadata.name);
    return node === undefined ? [] : warningsOf(node, lease, isTold ? daemonTiming(written) : {});
  });
}

/** A policy that hears node daemons holds nothing where the controllers have reported none. */
export function unheardPolicies(configuration: Configuration): SurveyProblem[] {
  const settings = clusterLayer(configuration, new Problems())?.settings;
  const standing = new Set(resolvePolicies(configuration, settings, new Problems()).map(({ name }) => name));
  const message = 'hears node daemons, and of no node one was reported: it holds no node until they run (docs/node-daemon.md)';
  return [...writtenPolicies(configuration, new Problems()).values()].flatMap(({ name, policy, where }) =>
    policy === 'storage-reachable' && standing.has(name) ? [{ severity: 'warning' as const, where, message, steps: [], nodes: [] }] : [],
  );
}

function warningsOf(node: string, lease: Lease, configured: WrittenTimes): SurveyProblem[] {
  const where = `Lease ${lease.metadata.name}`;
  const warning = (message: string): SurveyProblem => ({ severity: 'warning', where, message, steps: [], nodes: [node] });
  const attestation = parseAttestation(lease);
  if (attestation === undefined) return [warning(`the attestation of node ${node} is not whole, so its watchdog proves nothing: restart its daemon`)];
  const { watchdog, selfFence } = attestation;
  const attested: WrittenTimes = { ...selfFence, ...(watchdog === undefined ? {} : { watchdogMs: watchdog.timeoutMs }) };
  const broken = watchdog && selfFence && brokenTimes(watchdog, selfFence);
  const differing = differences(attested, configured);
  return [
    ...(broken === undefined ? [] : [warning(`the watchdog of node ${node} proves nothing: ${broken}`)]),
    ...(differing.length === 0
      ? []
      : [
          warning(
            `node ${node} attests ${differing.join(', ')}: restart its daemon, or leave it where its own settings say so; fences count with what it attests`,
          ),
        ]),
  ];
}
