import { NAMED_FAULTS, type BmcFaults } from './faults.ts';
import type { BmcProtocol } from '../ipmi/protocol.ts';
import type { TreeOptions } from './tree.ts';
import type { Wiring } from './wiring.ts';

/** The configuration file of a BMC process. It holds the password, so only its owner may read it. */
export interface BmcConfiguration {
  /** The node whose machine it switches. */
  node: string;
  /** Absent: `redfish`. */
  protocol?: BmcProtocol;
  /** Its machine's UUID, as Redfish shows it. */
  uuid: string;
  serial?: string;
  username: string;
  /** IPMI: at most 20 characters, 19 under ipmi_sim; 16 of the name. */
  password: string;
  /** IPMI, our emulator only: the BMC's own key. */
  kg?: string;
  /** IPMI: which datagrams `drops` and `duplicates` meet. Absent: any. */
  seed?: number;
  host?: string;
  /** 0 or absent: any free one. */
  port?: number;
  /** As the trace names it; `host:port` when absent, which is the agent's device key. */
  device?: string;
  /** JSONL file to append trace events to. */
  trace: string;
  /** Absent: a machine in memory. */
  machine?: { command: string[]; configuration: string };
  /** Absent: one signed by a new authority; its fingerprint is in the ready line. */
  certificate?: { certificatePem: string; keyPem: string };
  /** By name (see faults.ts) or in full. */
  faults?: keyof typeof NAMED_FAULTS | BmcFaults;
  tree?: Partial<TreeOptions>;
  /** Absent: on. */
  startsOn?: boolean;
  /** More than one device of this protocol may switch the machine; see wiring.ts. Absent: `bmc`. */
  wiring?: Wiring;
}

export const BMC_REQUIRED = ['node', 'uuid', 'username', 'password', 'trace'] as const;

export function faultsOf(faults: BmcConfiguration['faults']): BmcFaults {
  if (typeof faults !== 'string') return faults ?? {};
  if (!(faults in NAMED_FAULTS)) throw new Error(`unknown fault ${faults}: one of ${Object.keys(NAMED_FAULTS).join(', ')}`);
  return NAMED_FAULTS[faults];
}

/** The line that a BMC process prints once it can be reached. `others`: further devices on the same machine. */
export interface BmcReady {
  ready: true;
  host: string;
  /** TCP for Redfish, UDP for IPMI. */
  port: number;
  /** Redfish only. */
  url?: string;
  /** SHA-256 of its certificate; empty for IPMI, which has none. */
  fingerprint: string;
  others?: readonly BmcReady[];
}
