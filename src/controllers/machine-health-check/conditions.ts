/** A condition as either list holds it; `severity` only in that of v1beta1. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  severity?: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

/** Cluster API keeps conditions twice: those of v1beta2, and the deprecated ones of v1beta1, which older owners read. */
export type ListName = 'v1beta2' | 'v1beta1';
export type ConditionLists = Readonly<Record<ListName, readonly Condition[]>>;

/** Where each list stands below `status`; absent: the object has none. */
export type ConditionPaths = Partial<Readonly<Record<ListName, readonly string[]>>>;

/** What a condition must say in one list; undefined: that it is not there. */
export type Said = Pick<Condition, 'status' | 'reason' | 'message' | 'severity'>;

/** What a condition must say; a list that is not named keeps what it has. */
export interface Statement {
  type: string;
  says: Partial<Record<ListName, Said | undefined>>;
}

export function conditionIn(list: readonly Condition[], type: string): Condition | undefined {
  return list.find((condition) => condition.type === type);
}

/** As the API shows it: from the list of v1beta2, else from that of v1beta1. */
export function conditionOf(lists: ConditionLists, type: string): Condition | undefined {
  return conditionIn(lists.v1beta2, type) ?? conditionIn(lists.v1beta1, type);
}

/** RFC 3339 in whole seconds, as Kubernetes writes it. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

function isSame(was: Condition, said: Said, generation: number | undefined): boolean {
  if (was.status !== said.status || (was.reason ?? '') !== (said.reason ?? '') || (was.message ?? '') !== (said.message ?? '')) return false;
  return (was.severity ?? '') === (said.severity ?? '') && (generation === undefined || was.observedGeneration === generation);
}

interface Moment {
  /** As conditions have it. */
  now: string;
  generation: number | undefined;
}

function restatedList(list: readonly Condition[], name: ListName, statements: readonly Statement[], moment: Moment): Condition[] | undefined {
  let result: Condition[] | undefined;
  const generation = name === 'v1beta2' ? moment.generation : undefined;
  for (const { type, says } of statements) {
    if (!(name in says)) continue;
    const said = says[name];
    const was = conditionIn(result ?? list, type);
    if (said === undefined) {
      if (was !== undefined) result = (result ?? list).filter((condition) => condition.type !== type);
      continue;
    }
    if (was !== undefined && isSame(was, said, generation)) continue;
    // In the list of v1beta1 the time moves with every change, in that of v1beta2 with the status only.
    const stays = name === 'v1beta2' && was?.status === said.status;
    const lastTransitionTime = (stays ? was.lastTransitionTime : undefined) ?? moment.now;
    const own = name === 'v1beta2' ? { reason: said.reason ?? '', message: said.message ?? '' } : withoutEmpty(said);
    const next: Condition = {
      type,
      ...own,
      status: said.status,
      lastTransitionTime,
      ...(generation !== undefined && { observedGeneration: generation }),
    };
    result = was === undefined ? [...(result ?? list), next] : (result ?? list).map((condition) => (condition.type === type ? next : condition));
  }
  return result;
}

/** What the list of v1beta1 refuses where it is empty (`minLength: 1`). */
function withoutEmpty({ reason, message, ...said }: Said): Said {
  const isText = (text: string | undefined): text is string => text !== undefined && text !== '';
  return { ...said, ...(isText(reason) && { reason }), ...(isText(message) && { message }) };
}

function nested(path: readonly string[], value: unknown): Record<string, unknown> {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<string, unknown>;
}

/** The part of `status` of a merge patch that makes the statements true; undefined when they are. A list that an object does not have is left out. */
export function restated(
  lists: ConditionLists,
  paths: ConditionPaths,
  statements: readonly Statement[],
  moment: Moment,
): Record<string, unknown> | undefined {
  let patch: Record<string, unknown> | undefined;
  for (const name of ['v1beta2', 'v1beta1'] as const) {
    const path = paths[name];
    if (path === undefined) continue;
    const list = restatedList(lists[name], name, statements, moment);
    // The two paths never share their first member.
    if (list !== undefined) patch = { ...patch, ...nested(path, list) };
  }
  return patch;
}
