import type { AttestedWell } from '../../domain/node-daemon/found-well.ts';
import { LiveRemedies } from '../../config/live-remedies.ts';
import { remediesController } from '../../controllers/remedies/controller.ts';
import type { RemediesController } from '../../controllers/remedies/controller.ts';
import { REMEDY_NODE_LABEL } from '../../controllers/remedies/job/intent.ts';
import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { JOBS } from '../../ports/batch.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { ConfigMap } from '../../ports/objects.ts';
import type { Planner } from '../../ports/planner.ts';
import type { NodeProblem } from '../../ports/problems.ts';
import type { Prober } from '../../ports/probes.ts';
import type { RemedyHolds } from '../../ports/storm.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import { GatedController, overQueue } from '../gated-controller.ts';
import type { Controller } from '../gated-controller.ts';
import { watchBase, watching } from '../watching.ts';

export interface RemedySources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'nodes' | 'reports' | 'fences' | 'stops'>;
  configMaps: Lister<ConfigMap>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  planner: Planner;
  prober: Prober;
  lifeAtMs: (node: string) => number | undefined;
  remedyHolds: RemedyHolds;
  /** By their daemons; absent: none are heard. */
  foundWell?: ((node: string) => AttestedWell | undefined) | undefined;
  /** Counts what goes wrong; absent: nobody does. */
  countProblem?: ((problem: NodeProblem) => void) | undefined;
  /** These words, and no others, stand for this topic in `nodefence status`. */
  say: (topic: string, words: readonly string[]) => void;
}

/** How soon a first Configuration is found. */
const LOOK_MS = 5_000;
const TELL_MS = 5_000;
const TOPIC = 'remedies';

/** Remedies, for as long as a Configuration is there or something of one is written down; `undefined` when they are switched off. */
export function setUpRemedies(
  ports: ControllerPorts,
  options: ControllerOptions,
  sources: RemedySources,
): GatedController<boolean, 'remedies'> | undefined {
  if (options.remedies !== true) return undefined;
  const { clock } = ports;
  const { listers, configMaps } = sources;
  const settings = new LiveRemedies({ configMaps, nodes: listers.nodes, clock, files: ports.remedyFiles });
  const isWritten = (): boolean => [...listers.reports.all()].some(({ status }) => status?.remedies?.positions !== undefined);
  return new GatedController<boolean, 'remedies'>(ports, options, {
    question: 'whether remedies are configured',
    find: () => Promise.resolve(settings.isConfigured || isWritten()),
    gate: (isWanted, run) => {
      settings.lookAtFiles();
      run(isWanted ? ['remedies'] : []);
      // One without an error that acts needs a controller; one with an error needs to be told of.
      if (!isWanted) sources.say(TOPIC, settings.problems());
      return LOOK_MS;
    },
    build: () => {
      const { logger: log, metrics, recorder, random } = ports;
      const { namespace, mode, ownNode } = options;
      const { watch, reflectors } = watching(watchBase(ports, options));
      const jobs = watch(JOBS, { namespace, labelSelector: REMEDY_NODE_LABEL });
      const { cluster, leadership, planner, prober, lifeAtMs, remedyHolds, foundWell, countProblem, say } = sources;
      let made: RemediesController | undefined;
      const queued = overQueue(ports, 'remedies', (queue) => {
        made = remediesController({
          ...{ clock, random, cluster, log, recorder, leadership, planner, prober, lifeAtMs, remedyHolds, foundWell, countProblem, settings, queue },
          metrics: metrics.remedies,
          listers: { ...listers, jobs },
          options: { namespace, mode, ...(ownNode !== undefined && { ownNode }) },
        });
        return made;
      });
      return { controller: telling(queued, made, clock, (words) => say(TOPIC, words)), reflectors };
    },
  });
}

/** What keeps it from its work is told again and again, so that `nodefence status` has it. */
function telling(
  controller: Controller,
  made: RemediesController | undefined,
  clock: ControllerPorts['clock'],
  say: (words: readonly string[]) => void,
): Controller {
  let cancel = (): void => undefined;
  const tell = (): void => {
    say(controller.problems());
    cancel = clock.after(TELL_MS, tell);
  };
  return {
    ...controller,
    start: () => {
      controller.start();
      tell();
    },
    close: async () => {
      cancel();
      await controller.close();
      await made?.closed();
    },
  };
}
