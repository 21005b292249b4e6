import type { AgentRegistry } from '../../src/ports/agents.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Preservation } from '../../src/ports/preservation.ts';
import type { Random } from '../../src/ports/random.ts';
import type { ControllerPorts } from '../../src/manager/composition.ts';
import type { Composed } from './secondary-controllers/secondary-controllers.ts';

/** What one controller process of the simulated world is given: the real program's ports, nothing else. */
export interface ControllerWorld {
  /** Lease holder identity; also the session that devices see. */
  identity: string;
  /** The node on which it runs, where it knows. */
  ownNode: string | undefined;
  /** What is kept of the machines of nodes. */
  preservation: Preservation;
  /** The controllers beside the one that fences; absent: none. */
  secondaries: Composed | undefined;
  /** Remedies are served. */
  hasRemedies: boolean;
  /** Nodes that are worked on at once; absent: several. */
  slots: number | undefined;
  /** Where the daemons of nodes are heard; absent: they are not served. */
  nodeDaemons: ControllerPorts['nodeDaemons'];
  /** Where the messages of crash kernels are heard; absent: they are not. */
  kdump: ControllerPorts['kdump'];
  transport: ApiTransport;
  clock: Clock;
  random: Random;
  registry: AgentRegistry;
  /** The process ends by itself, e.g. because its lease is lost. */
  exit: (reason: string) => void;
  log: (line: string) => void;
  /** An Event for people. */
  event: (event: ToldEvent) => void;
}

/** What a Kubernetes Event says, and of which object. */
export interface ToldEvent {
  about: string;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** What the process does on SIGTERM; it ends when the promise settles. */
export interface RunningController {
  stop: (deadlineMs: number) => Promise<void>;
}

/** The main function of a controller process. What it leaves running ends with the process. */
export type ControllerProgram = (world: ControllerWorld) => RunningController;
