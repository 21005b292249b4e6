import type { ConfigMap, Secret } from '../../ports/objects.ts';
import { EXPECTED } from './faults/names.ts';
import type { Expected, Fault } from './faults/names.ts';
import { SHORT_SETTINGS } from './options.ts';
import type { DrillOptions } from './options.ts';
import { fenceConfiguration } from './scene-configuration.ts';
import type { Bmc, Credentials } from './scene-configuration.ts';

/** One machine of the drill with its BMC. What is absent is made up. */
export interface Machine {
  node: string;
  systemUUID?: string;
  serial?: string;
  labels?: Readonly<Record<string, string>>;
  /** Of its BMC; the drill's own otherwise. */
  credentials?: { username: string; password: string };
}

/** What a drill is made of, known before anything starts: the drill's own cluster, or the operator's configuration. */
export interface DrillSetting {
  machines: readonly Machine[];
  /** Nodes that may be broken: something says how they are fenced. */
  victims: readonly string[];
  /** What the audience is told first. */
  says: readonly string[];
  /** What the API server is loaded with once the BMCs listen. `says`: what was changed in it. */
  configuration(bmcs: readonly Bmc[], credentials: Credentials): { configMaps: ConfigMap[]; secrets: Secret[]; says?: readonly string[] };
  expected(fault: Fault): Expected;
}

/** The drill's own machines, `worker-1` and so on, each configured as the seed has it. */
export function ownSetting(options: DrillOptions): DrillSetting {
  const nodes = Array.from({ length: options.nodes }, (_unused, index) => `worker-${index + 1}`);
  const delays = Object.entries({ ...SHORT_SETTINGS, ...options.settings }).map(([key, value]) => `${key}=${value}`);
  return {
    machines: nodes.map((node) => ({ node })),
    victims: nodes,
    says: [`delays: ${delays.join(' ')}`],
    configuration: (bmcs, credentials) => fenceConfiguration(bmcs, credentials, options),
    expected: (fault) => EXPECTED[fault],
  };
}
