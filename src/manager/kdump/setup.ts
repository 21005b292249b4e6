import { isKdumpEnabled } from '../../config/kdump-settings.ts';
import { KdumpController } from '../../controllers/kdump/controller.ts';
import { KDUMP_LEASE } from '../../domain/kdump/record.ts';
import type { FastDetection } from '../../ports/fast-detection.ts';
import type { KernelDumps } from '../../ports/kdump.ts';
import { LEASES } from '../../ports/resources.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import { GatedController } from '../gated-controller.ts';
import type { NodeDaemonSources } from '../node-daemons/setup.ts';
import { watchBase, watching } from '../watching.ts';

export interface KdumpSources extends NodeDaemonSources {
  /** Who is taken for failed before Kubernetes says so; absent: nobody is. */
  fastDetection?: FastDetection;
  /** Did its daemon attest a crash kernel that notifies? */
  isArmed: (node: string) => boolean;
  /** Nothing of its kubelet was heard since this process saw the node first. */
  isOnlySeen: (node: string) => boolean;
}

/** Nothing has to be found out: where it is switched on, it runs. */
const LOOK_MS = 3_600_000;
const TOPIC = 'kdump';

/** The listener for kdump messages; `undefined` when it is switched off: then nothing listens, and whoever configures that it be waited for is told. */
export function setUpKdump(
  ports: ControllerPorts,
  options: ControllerOptions,
  sources: KdumpSources,
): GatedController<'served', 'messages', KdumpController> | undefined {
  const { kdump } = ports;
  if (kdump === undefined) {
    warnOfDeafness(ports, sources);
    return undefined;
  }
  return new GatedController<'served', 'messages', KdumpController>(ports, options, {
    question: 'whether kdump messages are heard',
    find: () => Promise.resolve('served'),
    gate: (_found, run) => {
      run(['messages']);
      return LOOK_MS;
    },
    build: () => {
      const { clock, logger: log, metrics, recorder } = ports;
      const { namespace } = options;
      const { cluster, leadership, planner, lifeAtMs, isOnlySeen, listers, isArmed, fastDetection, queue, say } = sources;
      const { watch, reflectors } = watching(watchBase(ports, options));
      const records = watch(LEASES, { namespace, fieldSelector: `metadata.name=${KDUMP_LEASE}` });
      const controller = new KdumpController({
        ...{ clock, cluster, log, recorder, leadership, planner, lifeAtMs, isOnlySeen, isArmed, socket: kdump.socket, metrics: metrics.kdump },
        listers: { nodes: listers.nodes, reports: listers.reports, leases: listers.leases, records },
        failureOf: (node) => fastDetection?.failureOf(node),
        wake: (node) => queue.add(node),
        tellProblems: (problems) => say(TOPIC, problems),
        options: { namespace, ...namesOf(leadership.identity) },
      });
      return { controller, reflectors };
    },
  });
}

/** `host_uuid`, as the elector names itself. */
function namesOf(identity: string): { host: string; replica: string } {
  const [host = '', replica = host] = identity.split(/_(?=[^_]*$)/u);
  return { host, replica };
}

/** Whoever runs when it is asked: until then nothing was heard. */
export function asKernelDumps(running: () => KernelDumps | undefined): KernelDumps {
  return {
    factsOf: (node) => running()?.factsOf(node) ?? { isArmed: false },
    recognise: (node) => running()?.recognise(node) ?? { state: 'unheard', detail: 'this controller has only begun to listen' },
  };
}

function warnOfDeafness({ logger }: ControllerPorts, { configMaps, say }: KdumpSources): void {
  const enabling = new Set<string>();
  configMaps.onChange((before, after) => {
    const name = (after ?? before)?.metadata.name ?? '';
    const [was, is] = [enabling.has(name), Object.values(after?.data ?? {}).some((text) => isKdumpEnabled(text))];
    if (was === is) return;
    if (is) enabling.add(name);
    else enabling.delete(name);
    const words = `kdump_enabled=yes in ConfigMap ${[...enabling].sort().join(', ')}, and this controller hears no kdump messages: start it with --kdump-address :7410, or nothing waits for a dump`;
    say(TOPIC, enabling.size === 0 ? [] : [words]);
    if (is) logger.warn('kdump is enabled and not heard', { configuration: name, problem: words });
  });
}
