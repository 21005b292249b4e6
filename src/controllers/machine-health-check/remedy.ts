import type { Action, ActionEvent, Waiting } from './actions.ts';
import { restated } from './conditions.ts';
import type { Statement } from './conditions.ts';
import { EXTERNAL_REMEDIATION, REQUEST_REFUSED, TEMPLATE_NOT_FOUND, WAITING } from './names.ts';
import { requestFor } from './request.ts';
import type { FoundTemplate, HealthCheck, MachineFacts } from './snapshot.ts';
import { keyOf } from './snapshot.ts';
import { externally, failedBy, handedToOwner, NOT_EXTERNALLY, ownReasonIn, SUCCEEDED, takenFromOwner } from './statements.ts';
import { isInFlight, ownRequest, patchOf, refOf } from './target.ts';
import type { Target } from './target.ts';

/** What is known of a check when its machines are remediated. */
export interface Means {
  check: HealthCheck;
  now: string;
  isAllowed: boolean;
  template: FoundTemplate;
}

export interface Remedy {
  actions: Action[];
  waiting?: Waiting;
  /** It has taken one of the places for remediations at once. */
  takesPlace: boolean;
}

/** What is done about one machine beside the conditions of its check. */
interface Course {
  statements: Statement[];
  actions: Action[];
  events: ActionEvent[];
  hindrance?: Hindrance;
}

/** Why nothing is begun. */
type Hindrance = Omit<Waiting, 'machine'>;

const NOTHING: Readonly<Course> = { statements: [], actions: [], events: [] };

function waits(hindrance: Hindrance | string, statements: Statement[] = []): Course {
  return { ...NOTHING, statements, hindrance: typeof hindrance === 'string' ? { why: hindrance } : hindrance };
}

/** Why no remediation may begin now that would be new. */
function obstacle({ subject: { machine, node }, holder }: Target, hasPlace: boolean): Hindrance | undefined {
  if (holder !== undefined) return { why: `its node belongs to ${holder}`, holder };
  // Its node is gone or never came: there is nothing to power off, and its host is being taken back.
  if (machine.isDeleting && typeof node !== 'object' && node !== 'unknown') return { why: 'it is being deleted and has no node' };
  return hasPlace ? undefined : { why: 'the limit of machines in remediation at once is reached' };
}

function byRequest(target: Target, means: Means, hasPlace: boolean): Course {
  const { machine } = target.subject;
  const { check, template } = means;
  if (check.template === undefined) return NOTHING;
  if (ownRequest(target) !== undefined) {
    const reason = ownReasonIn(machine.conditions);
    // Beyond our own words the condition is the remediator's from now on.
    return { ...NOTHING, statements: reason === undefined || reason === WAITING ? [] : [externally(WAITING)] };
  }
  if (target.request !== undefined) return waits(`${target.request.kind} ${keyOf(target.request)} belongs to something else`);
  if (template === 'unknown') return waits('its template, or the requests of that kind, are not read yet');
  if (template === 'missing' || template === undefined) {
    const place = `${check.namespace}/${check.template.name}`;
    const message = `Error retrieving remediation template ${check.template.kind} ${place}`;
    return waits(message, [externally(TEMPLATE_NOT_FOUND, message)]);
  }
  const hindered = obstacle(target, hasPlace);
  if (hindered !== undefined) return waits(hindered);
  const { refusal } = target;
  // The condition goes first: what the remediator says from then on is never written over.
  const statement = refusal === undefined ? externally(WAITING) : externally(REQUEST_REFUSED, refusal);
  const object = requestFor(machine, check.template, template);
  const create: Action = { kind: 'create-request', target: refOf(machine, 'Machine'), object, resourceVersion: machine.resourceVersion };
  // What stands of an earlier remediation would say that nobody remediates it now.
  const statements = machine.hasController ? [statement] : [statement, takenFromOwner(machine.conditions)];
  return { statements, actions: [create], events: [] };
}

function byOwner(target: Target, means: Means, hasPlace: boolean): Course {
  const { machine } = target.subject;
  if (machine.isDeleting) return NOTHING;
  const statement = handedToOwner(machine);
  if (Object.keys(statement.says).length === 0) return NOTHING;
  const hindered = isInFlight(target, means.check) ? undefined : obstacle(target, hasPlace);
  if (hindered !== undefined) return waits(hindered);
  const message = `Machine ${keyOf(machine)} has no controller that would heed OwnerRemediated: nobody remediates it`;
  return { ...NOTHING, statements: [statement], events: machine.hasController ? [] : [{ type: 'Warning', reason: 'NoOwnerToRemediate', message }] };
}

/** OpenShift without a template: whoever power-cycles hosts is asked, or the owner makes another machine. */
function byOpenShift(target: Target, means: Means, hasPlace: boolean): Course {
  const { machine } = target.subject;
  const ref = refOf(machine, 'Machine');
  const name = `${keyOf(means.check)}/${machine.name}/${machine.nodeName ?? ''}`;
  if (isInFlight(target, means.check)) return NOTHING;
  if (!means.check.annotatesMachines && !machine.hasController) {
    return waits({ why: `Machine ${name} has no controller owner, skipping remediation`, isOrphan: true });
  }
  const hindered = obstacle(target, hasPlace);
  if (hindered !== undefined) return waits(hindered);
  if (means.check.annotatesMachines) {
    const message = `Requesting external remediation of node associated with machine ${name}`;
    const patch = patchOf(machine, { annotations: { [EXTERNAL_REMEDIATION]: '' } });
    return {
      ...NOTHING,
      actions: [{ kind: 'machine-metadata', target: ref, patch, events: [{ type: 'Normal', reason: 'ExternalAnnotationAdded', message }] }],
    };
  }
  const message = `Machine ${name} has been remediated by requesting to delete Machine object`;
  const { resourceVersion } = machine;
  return {
    ...NOTHING,
    actions: [{ kind: 'delete-machine', target: ref, resourceVersion, events: [{ type: 'Normal', reason: 'MachineDeleted', message }] }],
  };
}

function courseOf(target: Target, means: Means, hasPlace: boolean): Course {
  if (means.check.template !== undefined) return byRequest(target, means, hasPlace);
  return means.check.flavour === 'openshift' ? byOpenShift(target, means, hasPlace) : byOwner(target, means, hasPlace);
}

/** Takes back what was asked for, and what was said of it. */
function recovered(target: Target, { check }: Means): Course {
  const { machine } = target.subject;
  const request = ownRequest(target);
  const actions: Action[] = request === undefined || request.isDeleting ? [] : [{ kind: 'delete-request', target: refOf(request, request.kind) }];
  const statements: Statement[] = [SUCCEEDED];
  if (check.template !== undefined && ownReasonIn(machine.conditions) !== undefined) statements.push(NOT_EXTERNALLY);
  if (!machine.hasController) statements.push(takenFromOwner(machine.conditions));
  return { statements, actions, events: [] };
}

function marked(machine: MachineFacts, check: HealthCheck): ActionEvent {
  const message = `Machine ${keyOf(machine)} has been marked as unhealthy by ${keyOf(check)}`;
  return { type: 'Normal', reason: 'MachineMarkedUnhealthy', message };
}

/** Everything that is to be done about one machine now. */
export function remedy(target: Target, means: Means, hasPlace: boolean): Remedy {
  const { check, now } = means;
  const { evaluation, subject } = target;
  const { machine } = subject;
  if (target.otherCheck !== undefined || (evaluation.kind !== 'healthy' && evaluation.kind !== 'unhealthy'))
    return { actions: [], takesPlace: false };
  const isFailed = evaluation.kind === 'unhealthy';
  const course = !isFailed ? recovered(target, means) : means.isAllowed ? courseOf(target, means, hasPlace) : NOTHING;
  const statements = isFailed ? [failedBy(evaluation.failure), ...course.statements] : course.statements;
  const status = restated(machine.conditions, machine.paths, statements, { now, generation: machine.generation });
  const begins = isFailed && means.isAllowed && course.hindrance === undefined;
  const events = [...(begins && check.flavour === 'cluster-api' ? [marked(machine, check)] : []), ...course.events];
  const actions: Action[] =
    status === undefined ? [] : [{ kind: 'machine-status', target: refOf(machine, 'Machine'), patch: { ...patchOf(machine), status } }];
  actions.push(...course.actions);
  const [first] = actions;
  if (first !== undefined && events.length > 0) actions[0] = { ...first, events: [...(first.events ?? []), ...events] };
  // One whose request stands is not begun again, though its remediator has handed it to an owner that it does not have.
  const isBegun = isInFlight(target, check) || (check.template !== undefined && ownRequest(target) !== undefined);
  const isNew = begins && !isBegun && (course.actions.length > 0 || course.statements.length > 0);
  return { actions, takesPlace: isNew, ...(course.hindrance !== undefined && { waiting: { machine: machine.name, ...course.hindrance } }) };
}
