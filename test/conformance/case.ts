/** One fact about the Kubernetes API, as requests and the answers a server must give. Run against the embedded server and a real one. */
export interface ConformanceCase {
  /** A sentence about behaviour. */
  name: string;
  /** Where the fact comes from. */
  source: string;
  /** First server version that behaves so; older real servers skip the case. */
  since: string;
  /** Last minor version that behaves so, where it changed. The embedded server counts as 1.36. */
  until?: string;
  steps: readonly Step[];
}

export type Step = RequestStep | WatchStep | CompactStep;

export interface RequestStep {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With query. `${name}` is replaced by a saved value. */
  path: string;
  /** Sent as JSON, with saved values put in; a string is sent as it is. */
  body?: unknown;
  contentType?: string;
  accept?: string;
  /** Default admin; `stranger` has no rights, `nobody` a token that the server does not know. */
  as?: 'admin' | 'stranger' | 'nobody';
  /** Variables to keep from the answer, by path (`metadata.resourceVersion`). */
  save?: Readonly<Record<string, string>>;
  status: number;
  /** Asked again for so many milliseconds until the answer is this: a real server learns of new roles by a watch. */
  eventually?: number;
  /** Members that the answer must have, recursively; arrays must have the same length. A RegExp matches a text, a Set an array of these in any order. */
  expect?: unknown;
  /** Paths that the answer must not have. */
  absent?: readonly string[];
  /** Two saved values must be equal, or must differ, after this step. */
  same?: readonly [string, string];
  differ?: readonly [string, string];
}

/** Opens a watch, does the steps meanwhile, and waits for as many events as are expected; for none, until the server ends the watch. */
export interface WatchStep {
  watch: string;
  meanwhile?: readonly Step[];
  events: readonly unknown[];
}

/** Makes the server forget its history. */
export interface CompactStep {
  compact: true;
}

/** How a runner reaches a server. */
export interface ConformanceTarget {
  request(step: RequestStep): Promise<{ status: number; body: unknown }>;
  /** Collects events until `count` have come (0: until one too many has), the stream ended or the deadline is over. */
  watch(path: string, count: number, meanwhile: () => Promise<void>): Promise<unknown[]>;
  compact(): Promise<void>;
}
