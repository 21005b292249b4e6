/** Which programs of a machine a ConfigMap or a Secret may name. */
export type ProgramRights =
  /** No folder is given to them: none. */
  | { kind: 'none' }
  /** Those in one folder of this machine. `withheld`: why none is run all the same; what a configuration says of them is checked. */
  | { kind: 'folder'; path: string; withheld?: string }
  /** The controller runs on another machine: nothing is looked for here, and nothing is run. `folder`: its own, where it says so. */
  | { kind: 'elsewhere'; folder?: string };

export const NO_PROGRAMS: ProgramRights = { kind: 'none' };
