import { LiveRemedies } from '../../config/live-remedies.ts';
import { ProblemController } from '../../controllers/problems/controller.ts';
import { NODE_EVENTS_SELECTOR, pruneNodeEvent } from '../../controllers/problems/node-event.ts';
import type { NodeEvent } from '../../controllers/problems/node-event.ts';
import { BY_NODE } from '../../controllers/fence/dependencies.ts';
import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { Reflector } from '../../kube/reflector.ts';
import type { Cluster, Lister, Resource } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { ConfigMap } from '../../ports/objects.ts';
import type { NodeProblem, ProblemReports } from '../../ports/problems.ts';
import { EVENTS } from '../../ports/resources.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import { GatedController, overQueue } from '../gated-controller.ts';
import type { Built, Controller } from '../gated-controller.ts';
import { watchBase } from '../watching.ts';

export interface ProblemSources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'nodes' | 'reports' | 'fences' | 'pods'>;
  configMaps: Lister<ConfigMap>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  /** For `nodefence status`. */
  say: (topic: string, problems: readonly string[]) => void;
}

type RunningProblems = Controller & ProblemReports;

/** How soon a first alarm is found. */
const LOOK_MS = 5_000;
/** Until a first list is missed. */
const UNREAD_MS = 30_000;
const TOPIC = 'problems';

/** Counts of problems, for as long as an alarm is configured or a count is written down; without one nobody watches Events. `undefined`: remedies are switched off. */
export function setUpProblems(
  ports: ControllerPorts,
  options: ControllerOptions,
  sources: ProblemSources,
): GatedController<boolean, 'counts', RunningProblems> | undefined {
  if (options.remedies !== true) return undefined;
  const { configMaps, listers } = sources;
  const settings = new LiveRemedies({ configMaps, nodes: listers.nodes, clock: ports.clock, files: ports.remedyFiles });
  const isWritten = (): boolean => [...listers.reports.all()].some(({ status }) => status?.problemCounts !== undefined);
  return new GatedController<boolean, 'counts', RunningProblems>(ports, options, {
    question: 'whether problems of nodes are counted',
    find: () => Promise.resolve(settings.alarms().length > 0 || isWritten()),
    gate: (isWanted, run) => {
      settings.lookAtFiles();
      run(isWanted ? ['counts'] : []);
      if (!isWanted) sources.say(TOPIC, []);
      return LOOK_MS;
    },
    build: () => build(ports, options, sources, settings),
  });
}

function build(ports: ControllerPorts, options: ControllerOptions, sources: ProblemSources, settings: LiveRemedies): Built<RunningProblems> {
  const { clock, logger: log, metrics, recorder } = ports;
  const { cluster, listers, leadership, say } = sources;
  const prune = pruneNodeEvent((reason) => settings.alarms().some((alarm) => alarm.reason === reason));
  const resource = EVENTS as Resource<NodeEvent>;
  const events = new Reflector<NodeEvent>({ ...watchBase(ports, options), resource, fieldSelector: NODE_EVENTS_SELECTOR, prune });
  const builtAtMs = clock.monotonicMs();
  const eventsProblem = (): string | undefined => {
    if (events.lister.synced || clock.monotonicMs() - builtAtMs < UNREAD_MS) return undefined;
    return events.lastError?.message ?? 'the API server has not answered';
  };
  let report: (problem: NodeProblem) => void = () => undefined;
  const controller = overQueue(ports, 'problems', (queue) => {
    const made = new ProblemController({
      ...{ clock, cluster, recorder, log, leadership, settings, queue, eventsProblem },
      metrics: metrics.problems,
      attention: metrics.fence,
      listers: { ...listers, events: events.lister },
      podIndex: BY_NODE,
      tellProblems: (problems) => say(TOPIC, problems),
    });
    report = (problem) => made.report(problem);
    return made;
  });
  return { controller: { ...controller, report: (problem) => report(problem) }, reflectors: [events] };
}
