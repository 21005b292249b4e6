import type { MethodAction, PlanMethod } from '../domain/plan.ts';
import type { AgentDefinition, ParameterProblem } from '../ports/agents.ts';
import { isCloudAgent } from './cloud.ts';
import { parseAddress } from '../domain/addresses/network.ts';
import type { Configuration, Setting } from './configuration.ts';
import { mayNameDevice } from './device-names.ts';
import { mergeMethod } from './merged-method.ts';
import type { MergedMethod } from './merged-method.ts';
import type { MethodLookup } from './method-body.ts';
import { nearest } from './nearest.ts';
import { OWN_KEYS, parameterNames, writableNames } from './parameter-names.ts';
import type { Problems } from './problems.ts';
import { parseBoolean, parseDuration, parseList } from './properties.ts';
import { lookup } from '../domain/lookup.ts';

/** Keys of a Secret; undefined when there is no such Secret. */
export type SecretKeys = (name: string) => readonly string[] | undefined;

export interface ResolvedMethod extends PlanMethod {
  /** Where the method stands, for messages. */
  where: string;
  /** Nodes that the method says share its plug. */
  shared: readonly string[];
  /** What it closes is not ours to open. */
  isUndoneByOthers: boolean;
  /** Agent that takes back, in recovery, what it does. */
  undoneBy?: string;
}

const METHOD_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,198}[A-Za-z0-9])?$/;
const PARAMETERS_MAX = 64;
const VALUE_MAX = 16_384;
const TOKEN_MAX = 500;
export const STORAGE_MAX = 256;
const STORAGE_MATCH_MAX = 1024;
/** Enough for a kernel to stop its other processors and to say its last words on the console. */
const DIAG_WAIT_MS = 10_000;
/** No device takes longer, and no fence waits for ever. */
const LATENCY_MAX_MS = 86_400_000;

/** Words of `action=`, by what they do. */
export const ACTIONS: Readonly<Record<AgentDefinition['kind'], Readonly<Record<string, MethodAction>>>> = {
  power: { on: 'on', off: 'off', reboot: 'reboot', delete: 'delete', diag: 'diag' },
  fabric: { on: 'on', off: 'off', open: 'on', close: 'off', enable: 'on', disable: 'off' },
  action: { run: 'run', on: 'run', off: 'run' },
};

export function defaultSecretName(method: string, node: string): string {
  return `secret-fence-method-${method}-${node}`;
}

/** Where the methods of a step are resolved, and by whom they are listed. */
export interface MethodContext {
  lookup: MethodLookup;
  /** The place that names the method. */
  listedIn: string;
  secretKeys: SecretKeys | undefined;
  problems: Problems;
}

/** One method of a step, one entry per plug. Empty when an error forbids any use of it. */
export function resolveMethod(context: MethodContext, name: string): ResolvedMethod[] {
  const { lookup, listedIn, secretKeys, problems } = context;
  if (!METHOD_NAME.test(name)) {
    problems.error(listedIn, `${name.slice(0, 60)} is no name of a method: letters, digits, dashes, dots, at most 200`);
    return [];
  }
  const merged = mergeMethod(lookup, name, listedIn, problems);
  if (merged === undefined) return [];
  const action = actionOf(merged, problems);
  const elsewhere = secretElsewhere(merged, lookup.configuration, problems);
  const secret = elsewhere.isWritten ? undefined : secretOf(merged, lookup.node.name, secretKeys, problems);
  // What a file or a program will have is not known here.
  const isComplete = checkParameters(merged, secret, lookup.node.name, elsewhere.isWritten ? undefined : secretKeys, problems);
  checkSecrets(merged, lookup.node.name, { secret, keys: secret === undefined ? undefined : secretKeys?.(secret) }, problems);
  const isCallable = checkAddress(merged, lookup.configuration, problems);
  const latencyMs = durationOf(merged, 'device_max_latency', merged.definition.deviceMaxLatencyMs, problems);
  const diagWaitMs = durationOf(merged, 'diag_wait', DIAG_WAIT_MS, problems);
  const identity = identityOf(merged, action, problems);
  if (identity === 'wrong') return [];
  if (action === undefined || !isComplete || !isCallable || !elsewhere.isRight || latencyMs === undefined || diagWaitMs === undefined) return [];
  return plugsOf(merged, problems).map((plug, index, all) =>
    methodFor(merged, {
      action,
      plug,
      secret,
      elsewhere: elsewhere.place,
      latencyMs,
      diagWaitMs,
      identity,
      suffix: all.length > 1 ? `:${index + 1}` : '',
    }),
  );
}

interface Use {
  action: MethodAction;
  plug: string;
  secret: string | undefined;
  elsewhere: Pick<PlanMethod, 'secretFile' | 'secretProgram'>;
  latencyMs: number;
  diagWaitMs: number;
  identity: PlanMethod['identity'];
  suffix: string;
}

function methodFor(merged: MergedMethod, { action, plug, secret, elsewhere, latencyMs, diagWaitMs, identity, suffix }: Use): ResolvedMethod {
  const { shown: parameters } = merged;
  const storage = merged.own.get('storage')?.value ?? '';
  const storageMatch = merged.own.get('storage_match')?.value ?? '';
  const { evidence } = merged.definition;
  const runMaxMs = action === 'run' ? merged.definition.runMaxMs?.(parameters) : undefined;
  return {
    name: merged.name + suffix,
    agent: merged.definition.name,
    kind: merged.definition.kind,
    action,
    device: merged.device.slice(0, TOKEN_MAX),
    plug,
    parameters,
    ...(secret !== undefined && { secret }),
    ...elsewhere,
    ...(storage !== '' && { storage: storage.slice(0, STORAGE_MAX) }),
    ...(storageMatch !== '' && { storageMatch: storageMatch.slice(0, STORAGE_MATCH_MAX) }),
    ...(identity !== undefined && { identity }),
    deviceMaxLatencyMs: latencyMs,
    ...(evidence !== undefined && { evidence }),
    ...(runMaxMs !== undefined && { runMaxMs }),
    ...(action === 'run' && merged.definition.whileOff === true && { whileOff: true }),
    ...(action === 'diag' && { diagWaitMs }),
    ...(merged.definition.undoneBy !== undefined && { undoneBy: merged.definition.undoneBy }),
    where: merged.where,
    shared: parseList(merged.own.get('shared')?.value ?? ''),
    isUndoneByOthers: merged.definition.undoneByOthers === true,
  };
}

const HOST_AND_PORT = /^\[?([^[\]]+?)\]?:\d+$/;

/** An address that no call would be made to. A name is checked by what it resolves to, at each call. */
function checkAddress({ device, parameters, where }: MergedMethod, { addresses }: Configuration, problems: Problems): boolean {
  const address = HOST_AND_PORT.exec(device)?.[1] ?? '';
  const refusal = parseAddress(address) === undefined ? undefined : addresses?.refusal(address, 'device');
  if (refusal !== undefined) problems.error(parameters.get('ip')?.where ?? where, refusal);
  return refusal === undefined;
}

/** How late this very device may act, or how long its kernel dumps, where the admin has measured it; else what is known of its kind. */
function durationOf({ own }: MergedMethod, key: string, usualMs: number, problems: Problems): number | undefined {
  const written = own.get(key);
  if (written === undefined) return usualMs;
  const durationMs = parseDuration(written.value);
  if (durationMs !== undefined && durationMs <= LATENCY_MAX_MS) return durationMs;
  problems.error(written.where, `${key}=${written.value.slice(0, 60)} must be a duration such as 30s, of a day at most`);
  return undefined;
}

/** Where a method says for itself whether its device must show whose machine it switches. */
function identityOf({ name, own, definition }: MergedMethod, action: MethodAction | undefined, problems: Problems): PlanMethod['identity'] | 'wrong' {
  const written = own.get('identity');
  if (written === undefined) return undefined;
  const { value, where } = written;
  if (value !== 'verified' && value !== 'unverified') {
    problems.error(where, `identity=${value.slice(0, 60)} must be verified or unverified`);
    return 'wrong';
  }
  const isAsked = definition.kind === 'power' || (definition.kind === 'fabric' && (action !== 'off' || (own.get('storage')?.value ?? '') !== ''));
  if (!isAsked)
    problems.warning(where, `identity of ${name} means nothing: only power, and the off of a way to a storage, has to show whose machine it is`);
  return value;
}

function actionOf(merged: MergedMethod, problems: Problems): MethodAction | undefined {
  const { definition, own, where } = merged;
  const written = own.get('action');
  if (written === undefined) {
    // An action agent does one thing: nothing is guessed.
    if (definition.kind === 'action') return 'run';
    problems.error(where, `action is missing: write action= with one of ${definition.actions.join(', ')}`);
    return undefined;
  }
  const word = written.value.toLowerCase();
  const action = lookup(ACTIONS[definition.kind], word);
  // `off` of an action agent is not another word for its `run`.
  const isOffered =
    definition.actions.includes(word) || (definition.kind !== 'action' && action !== undefined && definition.actions.includes(action));
  if (action !== undefined && isOffered) return action;
  problems.error(written.where, `action ${written.value} does not fence with agent ${definition.name}: one of ${definition.actions.join(', ')}`);
  return undefined;
}

function plugsOf(merged: MergedMethod, problems: Problems): string[] {
  const written = merged.own.get('plug');
  const plugs = parseList(written?.value ?? '');
  if (written !== undefined && plugs.some((plug) => plug.length > TOKEN_MAX))
    problems.error(written.where, `plug is longer than ${TOKEN_MAX} characters`);
  if (written !== undefined && new Set(plugs).size < plugs.length) problems.warning(written.where, 'a plug is named twice');
  const distinct = [...new Set(plugs)];
  return distinct.length === 0 ? [''] : distinct;
}

/** The Secret that `secret=` names must exist; the one named after the method may. */
function secretOf(merged: MergedMethod, node: string, secretKeys: SecretKeys | undefined, problems: Problems): string | undefined {
  const written = merged.own.get('secret');
  if (written === undefined) {
    const usual = defaultSecretName(merged.name, node);
    return secretKeys?.(usual) === undefined ? undefined : usual;
  }
  if (written.value === '') return undefined;
  if (secretKeys !== undefined && secretKeys(written.value) === undefined) {
    problems.error(written.where, `Secret ${written.value} does not exist: create it in the fence namespace, or mend the name`);
  }
  return written.value;
}

interface Elsewhere {
  isWritten: boolean;
  isRight: boolean;
  place: Pick<PlanMethod, 'secretFile' | 'secretProgram'>;
}

/** `secret_file=` or `secret_program=`: one of them, and no `secret=`. */
function secretElsewhere({ own, definition }: MergedMethod, { stores }: Configuration, problems: Problems): Elsewhere {
  const written = ['secret', 'secret_file', 'secret_program'].flatMap((key) => own.get(key) ?? []).filter(({ value }) => value !== '');
  const found = written.filter((setting) => setting !== own.get('secret'));
  const [setting] = found;
  if (setting === undefined) return { isWritten: false, isRight: true, place: {} };
  const kind = setting === own.get('secret_file') ? 'file' : 'program';
  const place = kind === 'file' ? { secretFile: setting.value } : { secretProgram: setting.value };
  const tooMany = written.length > 1 ? `${written.map(({ key }) => key).join(' and ')} are both given: leave one of them` : undefined;
  const unfit = definition.handsSecretOn === true ? `agent ${definition.name} hands a Secret on to its pod: write secret=` : undefined;
  const problem = tooMany ?? unfit ?? stores?.problem({ kind, name: setting.value });
  if (problem !== undefined) problems.error(setting.where, problem);
  // What could not be filled in was told where it was read.
  return { isWritten: true, isRight: problem === undefined && !setting.value.includes('{'), place };
}

const TRUSTS_ANYBODY =
  'ssl_insecure=yes believes any certificate: whoever is on the path reads the password, and can say that the machine is off; write ca or ssl_fingerprint';

const OLD_TLS: ReadonlySet<string> = new Set(['1.0', '1.1']);
const OLD_TLS_CAN_BE_BROKEN =
  'speaks a TLS that can be broken by whoever is on the path: update the firmware of the device, or keep its network apart from others';

const KEYS_SHOWN_MAX = 200;

/** Where a login that is missing was looked for, and belongs. */
function secretHint({ name, definition, secretNames }: MergedMethod, parameter: string, login: Login & { node: string; isKnown: boolean }): string {
  const isLogin = secretNames.has(parameter) || (parameter === 'username' && secretNames.has('password'));
  const isMissing = definition.describe().some((one) => one.name === parameter);
  if (!login.isKnown || !isLogin || !isMissing) return '';
  const usual = defaultSecretName(name, login.node);
  if (login.secret === undefined) return ` (no secret= is written, and there is no Secret ${usual})`;
  if (login.keys === undefined) return ` (not a key of Secret ${login.secret} either)`;
  const has = login.keys.length === 0 ? 'none' : login.keys.toSorted().join(', ').slice(0, KEYS_SHOWN_MAX);
  return ` (Secret ${login.secret} has no such key: it has ${has})`;
}

function checkParameters(
  merged: MergedMethod,
  secret: string | undefined,
  node: string,
  secretKeys: SecretKeys | undefined,
  problems: Problems,
): boolean {
  const { definition, parameters, where } = merged;
  const oversize = [...parameters.values()].filter(({ value }) => value.length > VALUE_MAX);
  for (const setting of oversize) problems.error(setting.where, `${setting.key} is longer than ${VALUE_MAX} characters`);
  if (parameters.size > PARAMETERS_MAX) problems.error(where, `more than ${PARAMETERS_MAX} parameters`);
  const exposed = merged.isOfGroup ? [...parameters].filter(([name]) => merged.secretNames.has(name)) : [];
  for (const [name, setting] of exposed)
    problems.error(setting.where, `${name} is not allowed in the ConfigMap of a group: put it into a Secret and write secret=<its name>`);
  const found = parameterProblems(merged, secret, secretKeys);
  const login = { secret, keys: secret === undefined ? undefined : secretKeys?.(secret), node, isKnown: secretKeys !== undefined };
  for (const { parameter, message } of found) {
    const setting: Setting | undefined = parameters.get(parameter);
    problems.error(setting?.where ?? where, `${parameter} ${message}${secretHint(merged, parameter, login)}`);
  }
  const insecure = parameters.get('ssl_insecure');
  if (insecure !== undefined && parseBoolean(insecure.value) === true) problems.warning(insecure.where, TRUSTS_ANYBODY);
  const version = parameters.get('ssl_min_version');
  if (version !== undefined && OLD_TLS.has(version.value))
    problems.warning(version.where, `ssl_min_version=${version.value} ${OLD_TLS_CAN_BE_BROKEN}`);
  for (const { parameter, message } of definition.warnings?.(merged.shown) ?? [])
    problems.warning(parameters.get(parameter)?.where ?? where, `${parameter} ${message}`);
  const isNowhere =
    found.length === 0 &&
    definition.kind !== 'action' &&
    definition.takesAny !== true &&
    !isCloudAgent(definition.name) &&
    definition.instanceOf === undefined &&
    merged.device === definition.deviceKey({});
  if (isNowhere) problems.error(where, 'the address of the device is missing: write it in the method or the template, not in the Secret');
  const isClosing = lookup(ACTIONS.fabric, merged.own.get('action')?.value.toLowerCase() ?? '') !== 'on';
  const isUndeclared = definition.needsStorage === true && isClosing && (merged.own.get('storage')?.value ?? '') === '';
  if (isUndeclared) problems.error(where, `storage= is missing: agent ${definition.name} shuts the node out of one storage only, so name it`);
  const claim = definition.revokesNoStorage === undefined ? undefined : merged.own.get('storage');
  const isClaimed = claim !== undefined && claim.value !== '';
  if (isClaimed)
    problems.error(claim.where, `storage= may not stand here: agent ${definition.name} proves nothing of it: ${definition.revokesNoStorage}`);
  const isSecretMissing = secret !== undefined && secretKeys !== undefined && secretKeys(secret) === undefined;
  return (
    found.length === 0 &&
    exposed.length === 0 &&
    oversize.length === 0 &&
    parameters.size <= PARAMETERS_MAX &&
    definition.actions.length > 0 &&
    !isClaimed &&
    !isUndeclared &&
    !isSecretMissing
  );
}

/** Passwords that anybody who may read ConfigMaps reads, and keys of the Secret that are misspelt or win over the ConfigMap's. */
function checkSecrets(merged: MergedMethod, node: string, { secret, keys = [] }: Login, problems: Problems): void {
  const { definition, parameters, secretNames, shown } = merged;
  const nameOf = parameterNames(definition);
  const given = new Set(keys.map((key) => nameOf(key)));
  for (const [name, { where }] of parameters) {
    if (given.has(name) && !secretNames.has(name) && mayNameDevice(definition, shown, name))
      problems.warning(
        where,
        `${name} is set here and in Secret ${secret ?? ''}: it says which device is called, and another value there is refused; remove it from the Secret`,
      );
    else if (given.has(name))
      problems.warning(where, `${name} is set here and in Secret ${secret ?? ''}: the Secret's value is used; remove it here`);
    else if (secretNames.has(name)) {
      const target = secret ?? defaultSecretName(merged.name, node);
      problems.warning(
        where,
        `${name} can be read by everybody who may read ConfigMaps: put it under the key ${name} into Secret ${target} and remove it here`,
      );
    }
  }
  for (const key of keys) {
    const name = nameOf(key) ?? '';
    const place = `Secret ${secret ?? ''}, key ${key}`;
    if (OWN_KEYS.has(name)) problems.warning(place, `is read by nobody: ${name} belongs into the method`);
    else if (parameters.get(name) === undefined && !secretNames.has(name) && mayNameDevice(definition, shown, name))
      problems.warning(place, `${name} says which device is called, and belongs into the method: a value that leads to another device is refused`);
  }
  for (const key of keys.filter((candidate) => nameOf(candidate) === undefined)) {
    const meant = nearest(key, writableNames(definition));
    if (meant !== undefined)
      problems.warning(`Secret ${secret ?? ''}, key ${key}`, `agent ${definition.name} has no parameter ${key}: did you mean ${meant}?`);
  }
}

/** The Secret of a method, and its keys where they are known. */
interface Login {
  secret: string | undefined;
  keys: readonly string[] | undefined;
}

/** What the agent says of the parameters. The values of a Secret are not known here, only that they will be there. */
function parameterProblems(merged: MergedMethod, secret: string | undefined, secretKeys: SecretKeys | undefined): ParameterProblem[] {
  const written = Object.fromEntries([...merged.parameters].map(([name, setting]) => [name, setting.value]));
  const isUnknown = secretKeys === undefined || (secret !== undefined && secretKeys(secret) === undefined);
  if (isUnknown) return [...merged.definition.check(written, false)];
  const nameOf = parameterNames(merged.definition);
  const promised = (secret === undefined ? [] : (secretKeys(secret) ?? [])).map((key) => nameOf(key) ?? key);
  const placeholders = Object.fromEntries(promised.map((name) => [name, 'from the Secret']));
  return merged.definition.check({ ...written, ...placeholders }, true).filter(({ parameter }) => !promised.includes(parameter));
}
