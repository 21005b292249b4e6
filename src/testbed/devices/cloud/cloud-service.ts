import type { Clock } from '../../../ports/clock.ts';
import type { Random } from '../../../ports/random.ts';
import type { CloudMachine, EmulatedInstance } from './emulated-instance.ts';
import type { CloudFaults } from './faults.ts';

export interface CloudServiceOptions {
  host: string;
  machines: readonly CloudMachine[];
  clock: Clock;
  random: Random;
  /** Absent: plain HTTP. */
  certificate?: { certificatePem: string; keyPem: string };
}

/** An emulated cloud that can be reached. It shares nothing with the agent that is tested against it. */
export interface CloudService {
  url: string;
  /**
   * Environment in which a program finds this cloud and its credentials by itself, as in a pod of that cloud; `files`: what stands in files that it names,
   * by the name of the variable that holds their path.
   */
  variables: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string>>;
  /** Keys of `fence-cluster-config` that this cloud cannot do without; mostly none. */
  settings: Readonly<Record<string, string>>;
  instances: readonly EmulatedInstance[];
  /** Names of the requests that arrived, oldest first. */
  requests: readonly string[];
  /** Connections, and sessions, that clients have open. */
  leftOpen(): { sessions: number; connections: number };
  setFaults(faults: CloudFaults): void;
  close(): Promise<void>;
}

/** One kind of cloud. */
export interface CloudKind {
  /** What the kubelet registers the machine of this number, from 0, with. */
  providerID(machine: Pick<CloudMachine, 'node' | 'uuid'>, index: number): string;
  start(options: CloudServiceOptions): Promise<CloudService>;
}
