import { Announcer } from '../controllers/fence/handover/announcer.ts';
import { Candidates } from '../controllers/fence/handover/candidates.ts';
import { OwnNode } from '../controllers/fence/handover/handover.ts';
import type { FenceDependencies } from '../controllers/fence/dependencies.ts';
import type { LeaderElector } from '../kube/leader-elector.ts';
import { within } from '../kube/within.ts';
import type { Lister } from '../ports/cluster.ts';
import type { Lease } from '../ports/objects.ts';
import { LEADER_NODE } from './composition.ts';
import type { ControllerOptions } from './composition.ts';
import type { Watches } from './watches.ts';

/** A process that ends waits no longer for its last word. */
const FAREWELL_MS = 1_000;

export interface OwnNodeParts {
  dependencies: Pick<FenceDependencies, 'clock' | 'cluster' | 'listers' | 'recorder' | 'log' | 'metrics' | 'queue'>;
  options: ControllerOptions;
  elector: Pick<LeaderElector, 'identity' | 'isLeading'>;
  /** Whoever may not lead is nobody to hand over to. */
  mayLead: () => boolean;
  /** The leader's Lease alone. */
  leader: Lister<Lease>;
  announced: Watches['announced'];
  stepDown: (reason: string) => void;
}

export interface WatchedOwnNode {
  ownNode: OwnNode;
  start(): void;
  /** From now on this replica can lead, and says so. */
  stand(): void;
  close(): Promise<void>;
}

/** The hand-over with its watch and this replica's own announcement. */
export function watchOwnNode({ dependencies, options, elector, mayLead, leader, announced, stepDown }: OwnNodeParts): WatchedOwnNode {
  const { namespace, ownNode: node, mode } = options;
  const candidates = new Candidates(elector.identity.split('_').at(-1) ?? '');
  const isLeading = (): boolean => elector.isLeading;
  const ownNode = new OwnNode({ ...dependencies, announced: announced.lister, candidates, isLeading, options, stepDown });
  const hasNode = (): boolean => [...leader.all()].some(({ metadata }) => (metadata.annotations?.[LEADER_NODE] ?? '') !== '');
  const isNeeded = (): boolean => !isLeading() && mayLead() && (node !== undefined || hasNode());
  const { cluster, clock, log } = dependencies;
  const announcer = new Announcer({ cluster, clock, log, namespace, ownNode: node, mode, candidates, isNeeded });
  return {
    ownNode,
    start: () => {
      announced.start();
    },
    stand: () => {
      announcer.start();
    },
    close: async () => {
      ownNode.close();
      announced.close();
      await within(clock, FAREWELL_MS, announcer.close()).catch((error: unknown) => {
        log.debug('candidacy not withdrawn; it expires', { error: String(error) });
      });
    },
  };
}
