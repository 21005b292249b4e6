import { Option } from 'commander';
import { standardRegistry } from '../../../agents/registry.ts';
import type { Command } from 'commander';
import { BY_NODE } from '../../controllers/fence/dependencies.ts';
import { releasablePods } from '../../controllers/fence/workload.ts';
import { sameContent } from '../../domain/canonical.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { Plan } from '../../domain/plan.ts';
import type { ClusterFlags } from '../cluster-access.ts';
import { hasOutOfService } from '../../manager/server-version.ts';
import { noSuchNode, plannerOf } from './explain.ts';
import { EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { listForNode } from './listed-cluster.ts';
import { nodeArgument } from './node-argument.ts';
import { planPage } from './pages/plan-page.ts';
import type { PlanPage } from './pages/plan-page.ts';
import { witnessesOf } from './plan-witnesses.ts';
import { personCommand, run } from './person-command.ts';
import type { Session } from './person-command.ts';
import { timeToOff } from './time-to-off.ts';

interface PlanFlags extends ClusterFlags {
  output: 'text' | 'json' | 'yaml';
}

const DEADLINE_MS = 20_000;

/** `nodefence plan <node>`: exit 1 when the configuration has errors. */
export function planCommand(): Command {
  return personCommand('plan', 'show how a node would be fenced: steps, devices, times, evidence, and what would be released; changes nothing')
    .argument('<node>', 'name of a Node', nodeArgument)
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json', 'yaml']).default('text'))
    .action((node: string, flags: PlanFlags) => run(flags, (session) => showPlan(session, node, flags)));
}

async function showPlan({ access, console }: Session, name: string, flags: PlanFlags): Promise<ExitCode> {
  const [cluster, outOfService] = await Promise.all([
    listForNode(access, name, ['configMaps', 'pods']),
    hasOutOfService(access.transport, DEADLINE_MS),
  ]);
  const { listers } = cluster;
  const node = listers.nodes.get(name);
  if (node === undefined) throw noSuchNode(name, access);
  const planner = plannerOf(access, cluster);
  const plan = planner.planFor(node);
  const freed = releasablePods(listers, name).map((pod) => ({
    namespace: pod.metadata.namespace ?? 'default',
    name: pod.metadata.name,
    claims: (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []),
  }));
  const status = listers.fences.get(fenceName(name))?.status;
  const page: PlanPage = {
    node: name,
    plan,
    freed,
    stay: listers.pods.byIndex(BY_NODE, name).length - freed.length,
    attached: listers.volumeAttachments.byIndex(BY_NODE, name).map(({ spec, metadata }) => spec.source.persistentVolumeName ?? metadata.name),
    auto: outOfService ? 'out-of-service' : 'delete-pods',
    witnesses: witnessesOf(plan, standardRegistry()),
    open: openPlan(status, plan),
    ...(status?.frozen?.asked !== undefined && status.state !== 'final' && { asked: status.frozen.asked }),
    unreadable: cluster.unreadable,
    time: timeToOff(plan, planner.stormPolicies()),
  };
  const text = {
    text: () => planPage(page, { ink: console.ink, width: console.width, nowMs: access.clock.wallMs() }),
    json: () => JSON.stringify(page, null, 2),
  };
  console.print(flags.output === 'yaml' ? (await import('yaml')).stringify(JSON.parse(text.json())).trimEnd() : text[flags.output]());
  return plan.problems.some(({ severity }) => severity === 'error') ? EXIT.failed : EXIT.done;
}

/** How the plan of the fence that is open compares with this one. */
function openPlan(status: NodeFenceStatus | undefined, plan: Plan): PlanPage['open'] {
  if (status?.frozen === undefined || status.state === 'final') return undefined;
  if (sameContent(status.frozen.plan, plan)) return 'same';
  return status.state === 'new' && status.journal.length === 0 ? 'unbegun' : 'other';
}
