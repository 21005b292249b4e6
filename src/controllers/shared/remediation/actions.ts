/** Whose object an action changes. The shell refuses to change an object of another uid. */
export interface ObjectRef {
  apiVersion: string;
  kind: string;
  name: string;
  /** Nodes have none. */
  namespace?: string;
  uid: string;
}

/** metadata.labels or metadata.annotations. */
export type Marks = Readonly<Record<string, string>>;

/** One annotation: `was` is compared before `to` is written (JSON patch `test`); undefined: absent, or remove. */
export interface Change {
  key: string;
  was: string | undefined;
  to: string | undefined;
}

/** For the recorder, after the write has succeeded. Reasons are UpperCamel. */
export interface ActionEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** One write of annotations. `resourceVersion`: refused when the object, its status included, has changed since it was read. */
export interface Annotate {
  kind: 'annotate';
  target: ObjectRef;
  changes: readonly Change[];
  resourceVersion?: string;
}

/** A reason of the whole program not to act now (stop, storm, maintenance, preservation, quorum): law P6. */
export interface HoldFact {
  reason: string;
  message: string;
  /** A person's stop: it blocks the power-on as well. Every other hold never does. */
  isStop: boolean;
}

/** A machine that is off has nothing more to show, and a NodeFence isolates one that is preserved, and holds, itself: what holds them besides. */
export function besidesPreservation(holds: readonly HoldFact[]): HoldFact[] {
  return holds.filter(({ reason }) => reason !== 'preserved' && reason !== 'preserved-unknown');
}

/** The changes that make `marks` say what `wanted` says; undefined: it is to be absent. */
export function changesTo(marks: Marks, wanted: Readonly<Record<string, string | undefined>>): Change[] {
  return Object.entries(wanted).flatMap(([key, to]) => (marks[key] === to ? [] : [{ key, was: marks[key], to }]));
}

/** RFC 3339 in whole seconds, as metav1.Time writes it. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** An annotation that nobody can read counts as none. */
export function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
