import type { EvidenceGrade, EvidenceKind, PlanMethod, Step } from '../domain/plan.ts';
import type { Clock } from './clock.ts';
import type { Cluster } from './cluster.ts';
import type { KernelDumps } from './kdump.ts';
import type { NodeDaemons, NodeOrders } from './node-daemons.ts';
import type { Node } from './objects.ts';

/** The contract between the core and fence agents (docs/agents.md). An agent knows one kind of device and nothing else. */

/** What a device may be asked about one plug. `unknown` is every answer that is not exactly a known token. */
export type PowerState = 'on' | 'off' | 'pending' | 'unknown';
export type PortState = 'open' | 'closed' | 'pending' | 'unknown';
export type DeviceState = PowerState | PortState;

/** Parsed parameters of a method: template, method and Secret merged. Never logged, never written to an object. */
export type Parameters = Readonly<Record<string, string>>;

/** What the machine behind a plug must be, as recorded while the node was healthy. */
export interface Identity {
  node: string;
  /** Of the Node that this is about: another one may have its name by now, and is not changed. Absent: whatever has the name. */
  nodeUID?: string | undefined;
  systemUUID?: string | undefined;
  providerID?: string | undefined;
  /** Its addresses inside the cluster (`InternalIP`). Absent: none is known. */
  addresses?: readonly string[] | undefined;
}

export interface Target {
  /** Outlet, port, instance id; empty where the device has one machine only. */
  plug: string;
  /** Address of the device, as `deviceKey` gave it. */
  device: string;
  parameters: Parameters;
  /** A machine of another identity behind the plug is `Misconfigured`, before anything is sent. */
  identity: Identity;
  signal: AbortSignal;
  /** Real time this one call may take. */
  deadlineMs: number;
  /** A read that nobody waits for: the agent may ask what a fence has no time for, such as when the password ends. */
  isProbe?: boolean;
  /** Of a probe: a fence would delete the machine, so that the right to do so is asked for too. */
  deletes?: true;
  /** Of a probe: what of this device the plan switches off for the same node, the plug among them. Absent: nobody says. */
  switched?: readonly Pick<PlanMethod, 'plug' | 'parameters'>[];
  /** Journal id of the run that this call is made for (`<method>-<uuid>`); a successor that reads what became of it has the same one. Absent: no fence asks. */
  intent?: string;
  /** The incident that the run belongs to (`<uid of the NodeFence>/<number>`): what stands from another one is no work of this fence. Absent: no fence asks. */
  incident?: string;
  /** What is read is to be what an off of this fence has done, or may have, by an earlier process too: an off that is older proves nothing of it. */
  isAfterOff?: true;
  /** The node's boot ID when the intent was written; absent: it was not known, or no fence asks. */
  bootID?: string;
  /** Name of the Secret whose keys are among the parameters, for an agent that hands it on instead. */
  secret?: string;
  /** The Node as the API server had it after the intent was acknowledged, read beside the questions that come before the call. Absent: whoever needs it reads it. */
  standing?: Promise<Node | undefined>;
  /**
   * The lease check. Called in the same synchronous turn as the write of the request that changes the device, after connect,
   * TLS and authentication; throws `NotSent` when the set must not begin. An off that ends without it was never sent, and is no evidence `power-off`.
   */
  beforeSend(): void;
}

/** One run of a device's own firmware: after each start it may show a default state until it has looked. */
export interface DeviceBoot {
  /** Equal in two readings: the device has not restarted between them. Different: it has, or nothing rules it out. */
  id: string;
  /** What began this one: `session lost`, `connection reset`; empty for the first. */
  cause: string;
  /** How long it has been up, where it says so. */
  upMs?: number;
  /** No such device needs longer after its start to show the true state. */
  startMaxMs: number;
}

/** What a device said to a read, with what else it showed. */
export interface Reading<S extends DeviceState = DeviceState> {
  state: S;
  /** The device's own words, e.g. `PowerState=Off`. */
  detail: string;
  /** A second witness (Chassis, outlet current), where the device has one; it must agree. */
  witness?: {
    source: string;
    state: S;
    detail: string;
    /** How an admin may do without this witness, and what is given up by it. Told where it alone disagrees; it is never dropped by itself. */
    waiver?: string;
  };
  /** How the machine's identity was checked over the same session. */
  identity: 'verified' | 'unverified';
  /** Of `mustBeSeenOpen`: open, but not in all of its parts, or to nobody at its other end; nothing shows that it was ever open to the node. */
  isOpenInPart?: true;
  /** The boot of the device that answered, where the agent can follow its boots. */
  boot?: DeviceBoot;
  /** The device's own clock, where it has one (RFC 3339). */
  deviceTime?: string;
  /** When the certificate that the device showed ends (RFC 3339), where it showed one. */
  certificateExpiresAt?: string;
  /** When the password or key in use ends (RFC 3339), where the device tells. */
  credentialExpiresAt?: string;
  /** Why the device would refuse a set, such as a permission that is missing, as far as it tells without one being made. Of probes only. */
  wouldRefuse?: string;
  /** What of the device bears the name of the same machine and is switched by nothing (`Target.switched`), in words: the machine may run on by it. Of probes only. */
  overlooked?: string;
}

/** One plug that a device says it has. */
export interface PlugEntry {
  plug: string;
  /** The name that the device keeps for it: outlet name, ifAlias, host name. */
  alias?: string;
  /** Absent where a state costs a read for each plug. */
  state?: DeviceState;
}

/** What a device can show of a machine that failed, before a power-off destroys it: never evidence of off. */
export interface FailureDiagnostic {
  /** `sel`, `screenshot`, `console`. */
  name: string;
  /** `text/plain`, `image/png`. */
  mediaType: string;
  /** At most 1 MiB; the newest part where the device has more. */
  content: Uint8Array;
}

/** The device's answer to a set. Never evidence. */
export interface Outcome {
  /** `accepted`: it said it would. `unclear`: no answer or an odd one; reads decide. A refusal is thrown as `Refused`. */
  result: 'accepted' | 'unclear';
  detail: string;
  /** Only of an action agent whose `run` waits until something is proven (`watchdog`, `kdump`), and only of the kind that its definition names. */
  evidence?: { kind: EvidenceKind; grade: EvidenceGrade };
  /**
   * Of an off that another program was asked for: `false` where its own words say that it sent nothing, `true` where they say that it did. Absent: it
   * left when `beforeSend` was called, or nobody can tell (see `skipsWhatIsOff`).
   */
  isSent?: boolean;
}

/** What became of a machine that this fence told its cloud to delete. */
export interface Removal {
  /** It cannot come back: it is not there any more, or is on its way out with no way back. */
  isGone: boolean;
  /** The cloud's own words. */
  detail: string;
}

/** What agents of every kind may be able to do besides. */
interface AgentExtras {
  /** Ends kept sessions and connections. Never rejects; the agent may be used again afterwards. */
  close?(): Promise<void>;
  /** Every plug of the device, at most 1,000. */
  list?(target: Target): Promise<readonly PlugEntry[]>;
  /** Makes the machine's kernel dump (NMI, IPMI diag). Called in the same way as a set: `beforeSend` first. */
  diagnose?(target: Target): Promise<Outcome>;
  /**
   * Deletes the machine for good, by whatever leaves its group as it is where it belongs to one. Reads it first, over the same account: `Refused` before anything is
   * sent unless it reads off and shows that it is the node's. `beforeSend` first.
   */
  remove?(target: Target): Promise<Outcome>;
  /** What is left of it, asked only after a `remove` of ours: there, and nowhere else, not to be found counts as gone. */
  removal?(target: Target): Promise<Removal>;
  /** Reads what the device recorded; changes nothing. */
  failureDiagnostics?(target: Target): Promise<readonly FailureDiagnostic[]>;
}

export interface PowerAgent extends AgentExtras {
  readonly kind: 'power';
  /** It may send no off to a plug that reads off: there an outcome that does not say `isSent` is no off of ours (P1). */
  readonly skipsWhatIsOff?: true;
  read(target: Target): Promise<Reading<PowerState>>;
  set(target: Target, state: 'on' | 'off'): Promise<Outcome>;
  /**
   * Connects and logs in, and no more: a call that breaks it off finds what was begun. Absent: it would have to begin anew, and is better not called right
   * before.
   */
  connect?(target: Target): Promise<void>;
}

export interface FabricAgent extends AgentExtras {
  readonly kind: 'fabric';
  /**
   * `closed` may be said of what was never there, such as a mistyped key, or by a record that nobody has kept: it proves a revocation only of what was open right
   * before our set. The same holds of every port that does not show whose it is.
   */
  readonly mustBeSeenOpen?: true | ((parameters: Parameters) => boolean);
  read(target: Target): Promise<Reading<PortState>>;
  set(target: Target, state: 'open' | 'closed'): Promise<Outcome>;
}

export interface ActionAgent extends AgentExtras {
  readonly kind: 'action';
  /** Does it. Resolving means that the effect was read back. */
  run(target: Target): Promise<Outcome>;
  /** Is the effect there now? Asked after a crash and on a retry. */
  confirm(target: Target): Promise<boolean>;
}

export type Agent = PowerAgent | FabricAgent | ActionAgent;

/** One parameter of an agent, as documented and checked. Parsed from the agent's zod schema. */
export interface ParameterDescription {
  name: string;
  required: boolean;
  secret: boolean;
  description: string;
  default?: string;
  /** Other names that mean the same, e.g. those of the ClusterLabs agent. */
  aliases?: readonly string[];
}

export interface ParameterProblem {
  parameter: string;
  message: string;
}

/** Which addresses may be called that a configuration names. */
export interface AddressRules {
  /** Why nothing is sent there; undefined: it may be. `cloud`: of a public cloud, which no list of devices names. */
  refusal(address: string, owner: 'device' | 'cloud'): string | undefined;
}

/** What an agent may reach besides its device. */
export interface AgentContext {
  cluster: Cluster;
  clock: Clock;
  /** Where our own ConfigMaps and Secrets are. */
  namespace?: string;
  /** Another cluster, by the text of a kubeconfig: where machines (metal3, kubevirt) or storage (ceph) are described. Absent: only the own is reached. */
  connect?(kubeconfig: string): Promise<ConnectedCluster>;
  /** The controllers' side of the node daemons. Absent: there is none here, and nobody ends grants. */
  daemons?: NodeDaemons;
  /** What is heard of crash kernels. Absent: nobody listens here. */
  kdump?: Pick<KernelDumps, 'recognise'>;
  /** To give orders to node daemons. Absent: nobody serves them here. */
  orders?: NodeOrders;
  /** The process in which the agent runs: where clouds keep credentials for programs. Absent: only parameters count. */
  host?: HostEnvironment;
  /** Asked for what a name resolved to, right before a connection is made. Absent: every address may be called. */
  addresses?: AddressRules;
}

/** Environment and files of the process that runs an agent. */
export interface HostEnvironment {
  /** Undefined where it is not set, or empty. */
  variable(name: string): string | undefined;
  /** UTF-8, at most 1 MiB; undefined where there is no such file. Rejects where it cannot be read. */
  readFile(path: string): Promise<string | undefined>;
}

/** What a providerID says of an instance, in the parameters of its cloud's agent. */
export interface InstanceAddress {
  plug: string;
  parameters: Parameters;
}

/** Another cluster, with connections of its own; whoever connected ends them. */
export interface ConnectedCluster extends Cluster {
  close(): void;
}

/** A device that is believed as it was first seen. */
export interface FirstTrust {
  /** Which parameter takes what it showed. */
  parameter: string;
  /** What may be recorded in the place of what is on record. */
  accepted: readonly string[];
  /** What the device shows now, to somebody who does not log in. */
  show(context: Pick<AgentContext, 'clock' | 'addresses'>, signal: AbortSignal): Promise<string>;
}

/** What the registry knows of an agent without opening a connection. */
export interface AgentDefinition {
  name: string;
  aliases: readonly string[];
  kind: Agent['kind'];
  /** Actions that a method may name. */
  actions: readonly string[];
  /** Worst case from an accepted set to its effect. */
  deviceMaxLatencyMs: number;
  /**
   * What a proven off of a power agent is evidence of; absent: `power-off`. Of an action agent: what its `run` may prove, which only `watchdog` and `kdump` can;
   * a person's word counts by its own object alone.
   */
  evidence?: Exclude<EvidenceKind, 'storage-revoked' | 'booted-anew' | 'ack'>;
  /** Of an action agent whose `run` waits: real time that it may take; absent: `set_deadline`. Nothing may be sent but within `set_deadline` of its begin. */
  runMaxMs?(parameters: Parameters): number;
  /** Shuts a node out of a storage and of nothing else: a method of it has to say `storage=`. */
  needsStorage?: boolean;
  /** Of a fabric agent that isolates, and cuts no write off for sure: why. A method of it may not say `storage=`. */
  revokesNoStorage?: string;
  /** What it closes is opened again by whoever needs it, and never by us: nothing is left to be taken back (P8). */
  undoneByOthers?: true;
  /** Real time after which the storage itself forgets that it shut the node out; undefined: it does not. */
  forgetsAfterMs?(parameters: Parameters): number | undefined;
  /** Its plugs stand side by side behind one front, as the instances of a cloud do: calls for different plugs do not wait for one another. */
  sideBySide?: true;
  /**
   * A read leaves a connection and a login open that the next call finds: it is worth one before a fence needs them. The read that an off begins with may be up
   * to a second old: `set` sends over the session that the identity was read over, or reads it anew.
   */
  keepsSession?: true;
  /** The instance that a Node's providerID names; undefined for one of another cloud, or of a machine that cannot be switched. */
  instanceOf?(providerID: string): InstanceAddress | undefined;
  /** Every set that carries the same key is queued one behind the other. */
  deviceKey(parameters: Parameters): string;
  describe(): readonly ParameterDescription[];
  /** Empty when the parameters are complete and well formed. Secrets need not be present when `withSecrets` is false. */
  check(parameters: Parameters, withSecrets: boolean): readonly ParameterProblem[];
  /** Why every call for this plug is refused before the device is asked; absent, or `undefined`: it is not. */
  plugProblem?(plug: string, parameters: Parameters, identity: Identity | undefined): string | undefined;
  /**
   * Why no read could show whose machine it is, whatever the device answers; absent, or `undefined`: one may. `identity`: absent where the node is not known.
   */
  anonymous?(parameters: Parameters, identity: Identity | undefined, plug: string): string | undefined;
  /** What else of the device has to agree with its state, in words; absent, or `undefined`: nothing is asked for. */
  witness?(parameters: Parameters): string | undefined;
  /** Why no method of it may stand in this step, whatever else is right; absent, or `undefined`: it may. */
  stepProblem?(step: Step, parameters: Parameters): string | undefined;
  /** Absent, or `undefined`: the device is trusted by what the parameters say. */
  firstTrust?(parameters: Parameters): FirstTrust | undefined;
  /** It gives the Secret of its method to a pod, unread: a login from elsewhere is none for it. */
  handsSecretOn?: true;
  /** What it takes is not known where this is asked: no name is one too many. */
  takesAny?: true;
  /** What is well formed and dangerous all the same: told, and never refused. */
  warnings?(parameters: Parameters): readonly ParameterProblem[];
  /** Of an action agent: true only once the machine is proven off. It stands behind the last off and the release of its level, before the first on, and every off is read again right before it. */
  whileOff?: true;
  /** Of an action agent: it begins with a read of the Node, which is asked for ahead (`Target.standing`). */
  editsNode?: true;
  /** The agent that takes back, in recovery, what it did. */
  undoneBy?: string;
  create(context: AgentContext): Promise<Agent>;
}

export interface AgentRegistry {
  /** By name or alias, `_` and `-` alike. */
  find(name: string): AgentDefinition | undefined;
  names(): readonly string[];
}

/** Typed failures of agents. `device`, `plug`, `asked` and `answered` say what happened, without secrets. */
export type AgentErrorKind = 'Refused' | 'Unreachable' | 'Timeout' | 'Misconfigured' | 'NotSent';

export interface AgentErrorFacts {
  device: string;
  plug: string;
  asked: string;
  answered: string;
}

export class AgentError extends Error {
  override readonly name = 'AgentError';
  /** Refused: do not retry this method. Unreachable, Timeout: retry, then the next level. Misconfigured: a person must mend the configuration. NotSent: the set never began. */
  readonly kind: AgentErrorKind;
  readonly facts: AgentErrorFacts;
  constructor(kind: AgentErrorKind, facts: AgentErrorFacts) {
    super(`${kind}: ${facts.device}${facts.plug === '' ? '' : ` plug ${facts.plug}`}: asked ${facts.asked}, ${facts.answered}`);
    this.kind = kind;
    this.facts = facts;
  }
}
