import type { Resource } from '../../ports/cluster.ts';
import type { Need, ResourceRule } from './rights.ts';
import type { SchemaPart } from './schema-gaps.ts';

/** A CustomResourceDefinition as it is served, for one version. */
export interface ServedDefinition {
  /** This program's manifests have installed it. */
  isOurs: boolean;
  /** Undefined: that version is not served. */
  schema: SchemaPart | undefined;
  hasStatus: boolean;
}

/** What a server-side dry run came to. */
export type DryRun = { kind: 'created'; object: unknown } | { kind: 'refused'; status: number; message: string } | { kind: 'unsupported' };

/** The API server as the self-check asks it. Every method rejects where there is no answer; what the server refuses is one. */
export interface CheckedServer {
  /** `undefined`: there is none; `forbidden`: it may not be read. */
  definition(resource: Resource): Promise<ServedDefinition | 'forbidden' | undefined>;
  /** Nothing is stored. */
  dryRun(resource: Resource, object: object): Promise<DryRun>;
  /** What this account may do in a namespace, whether or not that exists; `isComplete`: it may do nothing else. */
  rules(namespace: string): Promise<{ rules: readonly ResourceRule[]; isComplete: boolean } | 'forbidden'>;
  mayDo(need: Need): Promise<boolean>;
}
