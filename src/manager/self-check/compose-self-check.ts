import { CANDIDATES_LEASE } from '../../controllers/fence/handover/candidates.ts';
import type { LeasePlace } from '../../controllers/shared/claims/lease-place.ts';
import { Notices } from '../../controllers/self-check/notices.ts';
import { otherInstallation } from '../../controllers/self-check/other-installation.ts';
import { questionsOf } from '../../controllers/self-check/questions.ts';
import type { Fault } from '../../controllers/self-check/questions.ts';
import { RefusedWrites } from '../../controllers/self-check/refused-writes.ts';
import { SelfCheck } from '../../controllers/self-check/self-check.ts';
import { ApiClient } from '../../kube/client.ts';
import type { LeaderElector } from '../../kube/leader-elector.ts';
import { within } from '../../kube/within.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import { LEADER_LEASE } from '../composition.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import { ApiServerCheck } from './api-server.ts';
import { doesAct } from './does-act.ts';
import { installedFor } from './installed.ts';

const MEDIK8S_REMEDY = 'kubectl apply -k config/medik8s';

/** A process that ends waits no longer for its last word. */
const FAREWELL_MS = 1_000;

/** What the API server must take of this process, before it leads and after. */
export interface ComposedSelfCheck {
  selfCheck: SelfCheck;
  mayLead: () => boolean;
  refused: RefusedWrites;
  /** What else keeps this process from its work, for `nodefence status`. */
  say: Notices['say'];
  close(): Promise<void>;
}

export interface SelfCheckParts {
  nodes: Pick<Lister<Node>, 'get'>;
  elector: Pick<LeaderElector, 'identity' | 'isLeading' | 'poke'>;
  /** Where node leases are honoured; absent: they are not. */
  place: () => LeasePlace | undefined;
  /** Another installation came first, and this process leads: it gives that up. */
  onSecond: (message: string) => void;
}

/** Nothing is asked yet. As soon as it passes, the lease is looked at. */
export function composeSelfCheck(
  { transport, clock, logger, metrics, recorder }: ControllerPorts,
  options: ControllerOptions,
  { nodes, elector, place, onSecond }: SelfCheckParts,
): ComposedSelfCheck {
  const { namespace, mode } = options;
  const cluster = new ApiClient({ transport });
  const notices = new Notices({ cluster, clock, log: logger, namespace, lease: CANDIDATES_LEASE, id: elector.identity.split('_').at(-1) ?? '' });
  const questions = [
    ...questionsOf(new ApiServerCheck(transport), installedFor(options)),
    otherInstallation({ cluster, clock, namespace, leaseName: LEADER_LEASE, acts: doesAct }),
    { name: 'whether node leases can be read', ask: () => leasePlaceFaults(place()) },
  ];
  const selfCheck: SelfCheck = new SelfCheck({
    clock,
    log: logger,
    metrics: metrics.selfCheck,
    questions,
    isDemanded: mode === 'enforce',
    onResult: (message) => {
      const { result } = selfCheck;
      notices.say('self-check', message === undefined ? [] : [message]);
      if (selfCheck.mayLead()) elector.poke();
      else if (result.kind === 'refused' && result.faults.some(({ part }) => part === 'installation')) {
        const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
        recorder.event(own, 'Warning', 'SecondInstallationFound', selfCheck.message());
        if (elector.isLeading) onSecond(selfCheck.message());
      }
    },
  });
  const onChange = (words: readonly string[]): void => notices.say('status', words);
  return {
    selfCheck,
    mayLead: () => selfCheck.mayLead(),
    say: (topic, words) => notices.say(topic, words),
    refused: new RefusedWrites({ nodes, recorder, metrics: metrics.fence, log: logger, onChange }),
    close: async () => {
      selfCheck.close();
      await within(clock, FAREWELL_MS, notices.close()).catch((error: unknown) => {
        logger.debug('self-check report not withdrawn; it expires', { error: String(error) });
      });
    },
  };
}

async function leasePlaceFaults(place: LeasePlace | undefined): Promise<Fault[]> {
  if (place === undefined || (await place.look()) !== 'unreadable') return [];
  return [
    {
      part: 'rights',
      message: `namespace ${place.namespace} is there, and the controller's account may not read its Leases, which say whose a node is`,
      remedy: MEDIK8S_REMEDY,
    },
  ];
}
