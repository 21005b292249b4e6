import type { AlertQuery } from '../domain/policies/policy.ts';

/** What the controller can find out around it beside the API server, while a node has failed. */
export interface Questions {
  /** `host:port` as configured; `undefined`: the default gateway and the API server's own peers. */
  targets: readonly string[] | undefined;
  /** Members of etcd whose health endpoint is tried, by name. */
  members: ReadonlyMap<string, { host: string }>;
  /** By the name of the policy that asks. */
  alerts: ReadonlyMap<string, AlertQuery>;
}

/** Never changed, only replaced. */
export interface Answers {
  /** `undefined`: not known yet, or silence that says nothing. */
  targets: ReadonlyMap<string, boolean | undefined>;
  /** Only members whose endpoint answered. */
  members: ReadonlyMap<string, boolean>;
  /** Names of alerts that fire; `undefined`: the source could not be asked. A policy that was not asked for yet is absent. */
  alerts: ReadonlyMap<string, readonly string[] | undefined>;
}

/** Bounded probes behind a port: real ones in production, fakes in the simulation. No call throws or waits. */
export interface ConnectivityProbes {
  /** Answers are kept fresh from now on; asking the same again costs nothing. */
  ask(questions: Questions): void;
  /** Nothing failed any more: no probe is sent, and what was answered is forgotten. */
  rest(): void;
  readonly answers: Answers;
  /** Called after `answers` was replaced by something else. */
  onChange(listener: () => void): void;
}

export const NO_ANSWERS: Answers = { targets: new Map(), members: new Map(), alerts: new Map() };

/** Asks nobody: for tests, explanations and the simulation. */
export const NO_CONNECTIVITY_PROBES: ConnectivityProbes = {
  ask: () => undefined,
  rest: () => undefined,
  answers: NO_ANSWERS,
  onChange: () => undefined,
};
