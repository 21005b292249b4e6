import type { KubeObject } from './objects.ts';

/** Kubernetes Events, deduplicated and rate limited behind this port. Never rejects: a lost Event loses no decision. */
export interface Recorder {
  /** `reason`: UpperCamel, past tense. `message`: one sentence, no secrets. */
  event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** Structured log: constant message, fields from telemetry/log-fields.ts, redacted before it is written. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, unknown>>;
