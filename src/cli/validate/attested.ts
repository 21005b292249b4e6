import type { Configuration } from '../../config/configuration.ts';
import { clusterLayer } from '../../config/node-groups.ts';
import { chosenPolicies } from '../../config/policies.ts';
import { storageCases } from '../../config/policies-read.ts';
import type { StorageCase } from '../../domain/policies/storage-reachable.ts';
import { Problems } from '../../config/problems.ts';
import type { SurveyProblem } from '../../config/survey.ts';
import { methodsOf, writtenName } from '../../domain/device-paths.ts';
import { attestationName, nodeAttestedBy, parseAttestation } from '../../domain/node-daemon/attestation.ts';
import type { Attestation } from '../../domain/node-daemon/attestation.ts';
import type { Plan, PlanMethod } from '../../domain/plan.ts';
import { plainKey } from '../../domain/scsi-registration.ts';
import type { Lease } from '../../ports/objects.ts';
import type { ReportedNode } from './report.ts';

type Attested = ReadonlyMap<string, Attestation>;
const NAMES_MAX = 5;

/** Where what is configured and what daemons attest do not fit together: found now, and not when the node fails. */
export function attestedProblems(
  nodes: readonly Pick<ReportedNode, 'facts' | 'plan'>[],
  configuration: Configuration,
  leases: readonly Lease[],
): SurveyProblem[] {
  const attested = new Map(
    leases.flatMap((lease): [string, Attestation][] => {
      const [node, attestation] = [nodeAttestedBy(lease.metadata.name), parseAttestation(lease)];
      return node === undefined || attestation === undefined ? [] : [[node, attestation]];
    }),
  );
  return [
    ...byMessage(nodes.flatMap(({ facts, plan }) => methodProblems(facts.name, plan, attested.get(facts.name)))),
    ...sharedKeys(attested),
    ...slotProblems(attested),
    ...policyProblems(configuration, attested),
  ];
}

function warning(where: string, message: string, nodes: readonly string[]): SurveyProblem {
  return { severity: 'warning', where, message, steps: [], nodes };
}

/** Methods that wait for something of the node's daemon. */
function methodProblems(node: string, plan: Plan, attestation: Attestation | undefined): SurveyProblem[] {
  return methodsOf(plan).flatMap((method) => {
    const why = whyInVain(method, attestation);
    return why === undefined ? [] : [warning(`Node ${node}`, `method ${writtenName(method)} (agent_name=${method.agent}): ${why}`, [node])];
  });
}

function whyInVain(method: PlanMethod, attestation: Attestation | undefined): string | undefined {
  switch (method.agent) {
    case 'watchdog':
      return attestation === undefined ? `it proves nothing: ${NO_DAEMON}` : watchdogInVain(attestation);
    case 'node-daemon':
      return attestation === undefined ? `its order is heard by nobody: ${NO_DAEMON}` : undefined;
    case 'unfence':
      if (attestation === undefined) return `it waits in vain: ${NO_DAEMON}`;
      return attestation.unfence === undefined
        ? 'it waits in vain: the daemon puts no registrations back; start it with --unfence-device and --unfence-key'
        : undefined;
    case 'scsi':
      return attestation?.unfence === undefined ? undefined : otherKey(method, attestation.unfence);
    default:
      return undefined;
  }
}

const NO_DAEMON = 'no node daemon attests this node; run one there (docs/node-daemon.md)';

function watchdogInVain({ watchdog, selfFence }: Attestation): string | undefined {
  if (watchdog === undefined) return 'it proves nothing: the node attests no watchdog (nodefence node status there says why)';
  if (watchdog.kind !== 'hardware') return `it proves nothing: the watchdog of the node is ${watchdog.kind}, which a kernel that hangs takes with it`;
  if (watchdog.isPausable) return 'it proves nothing: the machine can be paused or sent to sleep, and its watchdog with it';
  return selfFence === undefined ? 'it proves nothing: the node does not fence itself; start its daemon with --self-fence' : undefined;
}

/** What the fence took away stays away, and what the node registers is what no fence takes away. */
function otherKey({ parameters }: PlanMethod, unfence: { key: string; devices: readonly string[] }): string | undefined {
  const key = plainKey(parameters['key'] ?? '');
  if (key !== unfence.key)
    return `it takes away key ${key}, and the daemon puts back ${unfence.key} (--unfence-key): the next fence would not shut the node out; give both the same key`;
  const devices = (parameters['devices'] ?? '').split(/[\s,]+/).filter((word) => word !== '').length;
  return devices === unfence.devices.length
    ? undefined
    : `it shuts the node out of ${devices} devices, and the daemon puts it back on ${unfence.devices.length} (--unfence-device): what is closed is reported as left closed; name the same devices`;
}

function sharedKeys(attested: Attested): SurveyProblem[] {
  const byKey = groups(attested, ({ unfence }) => unfence?.key);
  return [...byKey].flatMap(([key, nodes]) =>
    nodes.length < 2
      ? []
      : [
          warning(
            leaseOf(nodes),
            `nodes ${named(nodes)} register with one key, ${key}: a fence of one shuts out all of them; give each its own`,
            nodes,
          ),
        ],
  );
}

/** A slot has one writer; whoever is alone with its lease is seen by nobody. */
function slotProblems(attested: Attested): SurveyProblem[] {
  const slots = groups(attested, ({ storageLease }) => storageLease && `${storageLease.id} ${storageLease.slot}`);
  const taken = [...slots].flatMap(([key, nodes]) => {
    const slot = key.slice(key.indexOf(' ') + 1);
    if (nodes.length < 2) return [];
    return [
      warning(leaseOf(nodes), `nodes ${named(nodes)} attest slot ${slot} of one storage lease: give each its own (--storage-lease-slot)`, nodes),
    ];
  });
  const leases = [...groups(attested, ({ storageLease }) => storageLease?.id)];
  const alone = leases.flatMap(([id, nodes]) => {
    if (nodes.length > 1) return [];
    const message = `only node ${named(nodes)} attests storage lease ${id}: nobody else sees whether it lives; name the same lease on other nodes`;
    return [warning(leaseOf(nodes), message, nodes)];
  });
  return [...taken, ...alone];
}

/** A policy that can hold nothing, or not everywhere, because daemons report nothing of it. */
function policyProblems(configuration: Configuration, attested: Attested): SurveyProblem[] {
  // What is wrong with them is told with the cluster's problems.
  const ignored = new Problems();
  const chosen = chosenPolicies(configuration, clusterLayer(configuration, ignored)?.settings, ignored);
  const policies = chosen.filter(({ policy }) => policy === 'storage-reachable');
  return policies.flatMap(({ name, where, values }) => {
    const at = where === '' ? `policy ${name}` : where;
    return storageCases(values).flatMap((one) => {
      const why = whyReportsNothing(one, attested);
      return why === undefined ? [] : [warning(at, `when=${one} holds nothing there: ${why.message}`, why.nodes)];
    });
  });
}

function whyReportsNothing(one: StorageCase, attested: Attested): { message: string; nodes: string[] } | undefined {
  const isLease = one === 'lease-alive';
  const isSaid = ({ storageLease, storage = 'unknown' }: Attestation): boolean => (isLease ? storageLease !== undefined : storage !== 'unknown');
  const silent = [...attested].filter(([, attestation]) => !isSaid(attestation)).map(([node]) => node);
  const what = isLease ? 'a slot on shared storage' : 'its storage';
  const flags = isLease ? '--storage-lease' : '--storage-mount or --storage-device';
  if (silent.length === attested.size) return { message: `no node attests ${what}; start the daemons with ${flags}`, nodes: [] };
  if (silent.length === 0) return undefined;
  const hint = `start the daemon with ${flags}; where it was, nodefence node status there says why it has none, such as a lease without a free slot`;
  return { message: `${silent.length} of ${attested.size} nodes with a daemon attest nothing of ${what} (${named(silent)}): ${hint}`, nodes: silent };
}

function groups(attested: Attested, keyOf: (attestation: Attestation) => string | undefined): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [node, attestation] of attested) {
    const key = keyOf(attestation);
    if (key !== undefined) found.set(key, [...(found.get(key) ?? []), node]);
  }
  return found;
}

/** The same words for several nodes are said once. */
function byMessage(problems: readonly SurveyProblem[]): SurveyProblem[] {
  const found = new Map<string, SurveyProblem>();
  for (const problem of problems) {
    const known = found.get(problem.message);
    const nodes = [...(known?.nodes ?? []), ...problem.nodes];
    found.set(problem.message, { ...problem, nodes, where: nodes.length === 1 ? problem.where : `Nodes ${named(nodes)}` });
  }
  return [...found.values()];
}

function leaseOf(nodes: readonly string[]): string {
  return `Lease ${attestationName(nodes[0] ?? '')}`;
}

function named(nodes: readonly string[]): string {
  const more = nodes.length - NAMES_MAX;
  return nodes.slice(0, NAMES_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
