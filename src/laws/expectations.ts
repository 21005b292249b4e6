/** What the judge must know of a run that its trace does not show. All durations in milliseconds. */
export interface Expectations {
  /** User name of the fence controllers, as the API's audit has it. */
  controllerUser: string;
  /** User name of a node's kubelet. Its lease renewals and status posts are signs of life. */
  kubeletUser: (node: string) => string;
  /** Nodes that fence controllers run on: never switched (P10). */
  controllerNodes: readonly string[];
  /** Lease of the fence controllers' election; `undefined`: every Lease that the controller user writes outside kube-node-lease. */
  leaseName: string | undefined;
  /** Configured `off_stable`, `settle`, `release_timeout` and lease duration. */
  offStableMs: number;
  settleMs: number;
  releaseTimeoutMs: number;
  leaseDurationMs: number;
  /** How long after its set a device of this run may switch, when that is longer than the fence that told it waits (P4). */
  lateEffectMs: number;
  /** How long after a stop an act that was under way may still begin (P6). */
  stopGraceMs: number;
  /** By how much times of two processes may disagree. */
  toleranceMs: number;
  /** Reads that must agree before a release. */
  stableReads: number;
  /** Passwords and tokens that must not stand anywhere, in clear or as base64 (P9). */
  secrets: readonly string[];
  /** Logs, command lines and environments of the controllers, by name. */
  texts: Readonly<Record<string, string>>;
  /** Every off needs the machine's identity on the same session; `false` for devices that have none. */
  requireIdentity: boolean;
  /** Is the journal's device the one of the trace? */
  isSameDevice: (journal: string, traced: string) => boolean;
}

export const DEFAULT_EXPECTATIONS: Expectations = {
  controllerUser: 'nodefence',
  kubeletUser: (node) => `system:node:${node}`,
  controllerNodes: [],
  leaseName: undefined,
  offStableMs: 3_000,
  settleMs: 12_000,
  releaseTimeoutMs: 60_000,
  leaseDurationMs: 15_000,
  lateEffectMs: 0,
  stopGraceMs: 2_000,
  toleranceMs: 50,
  stableReads: 3,
  secrets: [],
  texts: {},
  requireIdentity: true,
  isSameDevice: (journal, traced) => addressOf(journal) === addressOf(traced),
};

/** `https://host:443/redfish` and `host:443` are one device. */
function addressOf(device: string): string {
  return device
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/\/.*$/, '');
}
