import type { NamedConfig } from '../../config/configuration.ts';
import type { DeviceAddresses } from '../../domain/addresses/device-addresses.ts';
import type { TrustedDevice } from '../../domain/first-trust.ts';
import type { SurveyProblem } from '../../config/survey.ts';
import type { FilePlace, FileProblem } from '../../config/manifests/manifests.ts';
import type { SecretStores } from '../../ports/secret-stores.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import type { Node } from '../../ports/objects.ts';

/** A template, or a request that stands. */
export interface Requester {
  /** `NodeFenceRemediationTemplate machines/escalate`. */
  where: string;
  powerOffTimeoutMs: number;
}

/** What there is to validate, read once, from files or from a cluster. */
export interface Input {
  /** In words: `the cluster at 10.0.0.1:6443`. */
  source: string;
  configMaps: readonly NamedConfig[];
  /** Decoded keys by name; undefined where they may not be read. */
  secrets: ReadonlyMap<string, Readonly<Record<string, string>>> | undefined;
  /** Undefined: it is not known which Nodes there are. */
  nodes: readonly Node[] | undefined;
  /** System UUIDs as they were recorded while the nodes were healthy. */
  recordedUUIDs: ReadonlyMap<string, string>;
  /** The controllers have reported a node's daemon; undefined: it is not known. */
  hearsDaemons?: boolean;
  /** It was read from files. */
  isOfFiles?: true;
  /** What is wrong with the files themselves. */
  problems: readonly FileProblem[];
  /** What was found in the cluster itself; absent: there is none. */
  found?: readonly SurveyProblem[];
  /** BareMetalHosts of this cluster; absent: there are none. */
  operated?: readonly BareMetalHost[];
  /** Folder of programs of whoever leads, as it says; empty: none. Absent: it is not known. */
  programs?: string;
  /** What devices of a node showed when they were first seen, by the name of the node. Absent: it is not known. */
  trusted?: ReadonlyMap<string, readonly TrustedDevice[]>;
  /** Logins on this machine, where it is the controller's. Absent: they are elsewhere. */
  stores?: SecretStores;
  /** Which addresses whoever leads calls. Absent: it is not known. */
  addresses?: DeviceAddresses;
  /** What asks for fences in this cluster, with the time in which each must be proven off. */
  requesters?: readonly Requester[];
  /** What is read otherwise than it is written. */
  notes: readonly string[];
  /** File and line of a place in an object, where there are files. */
  locate(where: string): FilePlace | undefined;
}
