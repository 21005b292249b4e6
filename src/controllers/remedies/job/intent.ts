import type { BatchJob } from '../../../ports/batch.ts';

/** One attempt of one remedy, as it is written down before its Job is created; all of it names the Job, so that a crash or a second controller finds the same one. */
export interface RemedyIntent {
  node: string;
  nodeUid: string;
  /** Of the threshold: `Ready=False`. */
  condition: string;
  /** Of the run in the node's position: never used again, neither by a later trouble nor by another remedy of one name. */
  run: string;
  attempt: number;
  remedy: string;
}

/** On a Job and its pods: its name, and the uid of the Node that it is for. */
export const REMEDY_JOB_LABEL = 'nodefence.ha.k8s.io/remedy-job';
export const REMEDY_NODE_LABEL = 'nodefence.ha.k8s.io/remedy-node';
/** On a Job: its intent in full, as JSON. */
export const REMEDY_INTENT_ANNOTATION = 'nodefence.ha.k8s.io/remedy-intent';

const SLUG_MAX = 32;
const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;
const HEX_DIGITS = 16;

/** The same for one intent, so that its Job can only be created once. Two intents that come to one name are told apart by the annotation. */
export function remedyJobName(intent: RemedyIntent): string {
  const slug = intent.remedy
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_MAX)
    .replaceAll(/^-+|-+$/g, '');
  return `nr-${slug === '' ? 'remedy' : slug}-${hashOf(intentText(intent))}`;
}

export function intentText({ node, nodeUid, condition, run, attempt, remedy }: RemedyIntent): string {
  return JSON.stringify({ node, nodeUid, condition, run, attempt, remedy });
}

export function isOfIntent({ metadata }: BatchJob, intent: RemedyIntent): boolean {
  return metadata.annotations?.[REMEDY_INTENT_ANNOTATION] === intentText(intent);
}

/** FNV-1a of 64 bits: the same on every machine; nothing secret depends on it. */
function hashOf(text: string): string {
  let hash = FNV_OFFSET;
  for (const letter of text) hash = BigInt.asUintN(64, (hash ^ BigInt(letter.codePointAt(0) ?? 0)) * FNV_PRIME);
  return hash.toString(16).padStart(HEX_DIGITS, '0');
}
