import type { Command } from 'commander';
import { standardRegistry } from '../../../agents/registry.ts';
import { LivePlanner } from '../../config/live-planner.ts';
import { LiveRemedies } from '../../config/live-remedies.ts';
import type { RemedyText } from '../../config/remedies.ts';
import { misnamedFor } from '../../controllers/fence/misnamed.ts';
import { fenceName, isNamedAsItsNode } from '../../domain/node-fence.ts';
import type { Plan } from '../../domain/plan.ts';
import type { Node } from '../../ports/objects.ts';
import type { Planner } from '../../ports/planner.ts';
import { NODE_LEASE_NAMESPACE } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import type { ClusterAccess, ClusterFlags } from '../cluster-access.ts';
import { holdersOf } from '../node-ownership/node-ownership.ts';
import { listNodeOwnership } from '../node-ownership/listed-ownership.ts';
import { listPicture } from '../preservation/listed-machines.ts';
import { withMachineOptions } from '../preservation/machine-flags.ts';
import type { MachineFlags } from '../preservation/machine-flags.ts';
import { describeGuard, picturedPreservation } from '../preservation/pictured-preservation.ts';
import { rightsElsewhere } from '../program-rights.ts';
import { remedyTexts, withRemediesOption } from '../remedy-folder.ts';
import type { RemedyFlags } from '../remedy-folder.ts';
import { hasOutOfService } from '../../manager/server-version.ts';
import { configuredRemedies } from './remedy-rows.ts';
import { explainRemedies } from './explain-remedies.ts';
import { dependenciesOf, explain } from './explanation.ts';
import { CommandFailure, EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { describeIgnored, fenceOf } from './fleet.ts';
import { healthCheckDrivers } from '../health-checks/drivers.ts';
import { leaderOf } from './leader.ts';
import { listForNode } from './listed-cluster.ts';
import type { ListedCluster } from './listed-cluster.ts';
import { nodeArgument } from './node-argument.ts';
import { explainPage } from './pages/explain-page.ts';
import { personCommand, run } from './person-command.ts';
import { unreadLeases } from './read-lease.ts';
import { stormHolds } from './storm-picture.ts';
import type { Session } from './person-command.ts';

interface ExplainFlags extends ClusterFlags, MachineFlags, RemedyFlags {}

const DEADLINE_MS = 20_000;

/** `nodefence explain <node>`: why it is or is not fenced. */
export function explainCommand(): Command {
  const command = personCommand(
    'explain',
    'explain why a node is fenced or not: every rule and its input now, the rule that decides, what happens next and when',
  ).argument('<node>', 'name of a Node', nodeArgument);
  return withRemediesOption(withMachineOptions(command)).action((node: string, flags: ExplainFlags) =>
    run(flags, (session) => explainNode(session, node, flags)),
  );
}

async function explainNode({ access, console }: Session, name: string, flags: ExplainFlags): Promise<ExitCode> {
  const [cluster, outOfService, nodeOwnership] = await Promise.all([
    listForNode(access, name),
    hasOutOfService(access.transport, DEADLINE_MS),
    listNodeOwnership(access),
  ]);
  const { listers, unreadable } = cluster;
  const node = listers.nodes.get(name);
  if (node === undefined && listers.fences.get(fenceName(name)) === undefined) throw noSuchNode(name, access);
  const nowMs = access.clock.wallMs();
  const leader = leaderOf(cluster.leader.lease, nowMs, cluster.leader.unread);
  const planner = plannerOf(access, cluster);
  const kept = await listPicture(access, flags, leader, nowMs);
  const preservation = kept.picture === undefined ? {} : { preservation: picturedPreservation(kept.picture) };
  const input = { access, node: name, listers, planner, leader, outOfService, nowMs, ...preservation };
  const fences = [...listers.fences.all()];
  const fence = fenceOf(listers.fences, name);
  const status = fence?.status;
  const dependencies = dependenciesOf(input, new ManualClock({ monotonicMs: nowMs, wallMs: nowMs }), status);
  const looks = explain({ ...input, storm: await stormHolds({ access, node: name, status, nowMs, dependencies }) });
  const stops = [...listers.stops.all()].filter(({ spec }) => spec.all === true || spec.node === name);
  const isUnread = unreadable.includes(unreadLeases(NODE_LEASE_NAMESPACE));
  const lease = isUnread ? ('unread' as const) : listers.leases.get(`${NODE_LEASE_NAMESPACE}/${name}`);
  const guard = preservation.preservation?.guardOf(name);
  const preserved = kept.picture === undefined ? undefined : describeGuard(guard === 'unknown' ? undefined : guard);
  const unread = [...unreadable, ...kept.notes, ...nodeOwnership.unreadable];
  const holders = holdersOf(nodeOwnership, fence, name);
  const drivers = await healthCheckDrivers(access, leader);
  const policies = planner.stormPolicies();
  const settings = remedySettings(access, cluster, flags);
  const remedies = node === undefined ? [] : configuredRemedies(settings.remediesOf(node), node);
  const remedyLooks = node === undefined ? [] : await explainRemedies({ ...input, node, dependencies, settings });
  const page = {
    policies,
    remedies,
    remedyLooks,
    name,
    node,
    lease,
    leader,
    report: listers.reports.get(name),
    stops,
    looks,
    unreadable: unread,
    misnamed: misnamedFor(name, fences),
    ignored: fences.filter((each) => each.spec.node === name && !isNamedAsItsNode(each)).map(describeIgnored),
    preserved,
    preserveMarks: kept.picture === undefined ? [] : kept.marksOf(name),
    holders,
    drivers,
  };
  console.print(explainPage(page, { ink: console.ink, width: console.width, nowMs }));
  return EXIT.done;
}

export function noSuchNode(name: string, { server }: Pick<ClusterAccess, 'server'>): CommandFailure {
  return new CommandFailure(
    `there is no Node ${name} in the cluster at ${server}, and no fence of it: look at nodefence status, or name another --context`,
  );
}

/** `remedies`: the folder that the controller reads too; as it is on this machine. */
function remedySettings({ clock }: Pick<ClusterAccess, 'clock'>, { configMaps, listers }: ListedCluster, { remedies }: RemedyFlags): LiveRemedies {
  const texts = remedies === undefined ? undefined : textsIn(remedies);
  const settings = new LiveRemedies({ configMaps, nodes: listers.nodes, clock, files: texts && (() => texts) });
  settings.lookAtFiles();
  return settings;
}

function textsIn(folder: string): readonly RemedyText[] {
  try {
    return remedyTexts(folder);
  } catch (error) {
    throw new CommandFailure(`--remedies ${folder} cannot be read: ${error instanceof Error ? error.message : String(error)}`, EXIT.usage);
  }
}

/** The configuration as it stands, as far as one sees it who may not read Secrets. */
export function plannerOf(access: ClusterAccess, { configMaps, leader, fleet }: Pick<ListedCluster, 'configMaps' | 'leader' | 'fleet'>): Planner {
  const { programs, addresses } = leaderOf(leader.lease, access.clock.wallMs());
  const registry = standardRegistry(rightsElsewhere(programs));
  const { cluster, namespace } = access;
  const said = addresses === undefined ? {} : { addresses };
  return new LivePlanner({ cluster, configMaps, secrets: undefined, registry, namespace, nodes: fleet, ...said });
}

/** The node's plan as configured now. */
export function planOf(access: ClusterAccess, cluster: Pick<ListedCluster, 'configMaps' | 'leader' | 'fleet'>, node: Node): Plan {
  return plannerOf(access, cluster).planFor(node);
}
