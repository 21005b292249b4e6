import type { AgentContext, AgentDefinition, Identity, Parameters } from '../../src/ports/agents.ts';

/** How a device may behave. Every agent meets all of them, or says why its device cannot. */
export const BEHAVIOURS = [
  'honest',
  /** 2 s to answer, 8 s to act. */
  'slow',
  'accepts-and-lies',
  /** The account may read and not switch: privilege, 403. */
  'refuses',
  'wrong-credentials',
  'wrong-certificate',
  'unreachable',
  'hangs-mid-answer',
  'garbage',
  'truncated',
  'state-unknown',
  'state-null',
  'state-pending',
  /** Off, and on again by itself half a second later. */
  'flips-back-on',
  'wrong-machine',
  'session-limit',
  'rate-limited',
  /** Two plugs, of which the second takes the command and stays as it is. */
  'one-plug-stuck',
  /** Answers the set, and acts, after our deadline. */
  'late-after-deadline',
  /** Takes an off, restarts before it acts, and shows its default off for a minute while everything flows on. */
  'restarts',
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

export const ACTIONS = ['off', 'on', 'reboot', 'status'] as const;
export type Action = (typeof ACTIONS)[number];

/** What the device's own side counts; never asked of the agent under test. */
export interface DeviceFixture {
  /** As a method's ConfigMap and Secret give them together. */
  parameters: Parameters;
  /** One plug, two for `one-plug-stuck`; `['']` where the device has one machine. */
  plugs: readonly string[];
  /** The machine that a fence believes to be behind the plug. */
  identity: Identity;
  /** What the agent reaches besides its device: a cluster in which machines or storage are objects. Absent: none. */
  context?: Partial<Pick<AgentContext, 'cluster' | 'namespace' | 'connect' | 'host'>>;
  /** Does power, or traffic, really flow through this plug now? */
  flows(plug: string): boolean;
  /** Every switching command that reached the device, oldest first: also those it refused or ignored. */
  commands(): readonly { plug: string; wanted: 'on' | 'off' | 'other' }[];
  /** What the agent has open at the device or on this machine: sessions, connections, child processes. All 0 after `close` of the agent. */
  leftOpen(): { sessions: number; connections: number; processes: number };
  close(): Promise<void>;
}

/** What only some devices of a kind do, beside what every agent meets. */
export interface Oddity {
  name: string;
  /** What it comes to is the same as here. */
  like: Behaviour;
  /** What a failure must say; absent: as for `like`. */
  words?: RegExp;
  spawn(isOn: boolean): Promise<DeviceFixture>;
}

/** One kind of device, as the harness needs it. */
export interface FaultProfile {
  agent: AgentDefinition;
  /** Behaviours that this device cannot show, each with the reason. */
  cannot: Readonly<Partial<Record<Behaviour, string>>>;
  /** What a failure must say, in the device's words. Required for every behaviour that makes `off` fail. */
  words: Readonly<Partial<Record<Behaviour, RegExp>>>;
  oddities?: readonly Oddity[];
  /** A device on loopback, powered on (open). Its plugs are off for action `on`. */
  spawn(behaviour: Behaviour, isOn: boolean): Promise<DeviceFixture>;
}
