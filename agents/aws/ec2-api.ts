import type { Call } from '../shared/call.ts';
import type { Reach } from '../shared/cloud/accounts.ts';
import type { MachineFacts } from '../shared/cloud/instance.ts';
import { repeated } from '../shared/cloud/repeat.ts';
import { TokenKeeper, type Token } from '../shared/cloud/tokens.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import type { WebAnswer } from '../shared/web/web-client.ts';
import { failureIn, instancesIn, type Ec2Instance } from './answers.ts';
import { InstanceRole } from './instance-role.ts';
import { findKeys, profileRegion } from './keys.ts';
import { awsInstance, instanceProblem, type AwsAccess, type Keys } from './parameters.ts';
import { SecurityTokens } from './security-tokens.ts';
import { SignedQuery } from './signed-query.ts';

const VERSION = '2016-11-15';
const AUTO_SCALING_VERSION = '2011-01-01';
/** Keys that ended, or that nobody knows any more. */
const STALE_KEYS = new Set(['ExpiredToken', 'ExpiredTokenException', 'InvalidClientTokenId', 'RequestExpired', 'AuthFailure']);
/** To a dry run: it would be done, or is done already. */
const WOULD_DO = new Set(['DryRunOperation', 'IncorrectInstanceState', 'IncorrectState']);

type Kept = Keys & Token;

export interface Action {
  /** Absent: `ec2`. */
  service?: 'ec2' | 'autoscaling';
  action: string;
  parameters: Readonly<Record<string, string>>;
}

/** One account and region of EC2: its keys, its region, and what its refusals mean. */
export class Ec2Api {
  readonly #settings: AwsAccess;
  readonly #reach: Reach;
  readonly #query: SignedQuery;
  readonly #sts: SecurityTokens;
  readonly #role: InstanceRole;
  readonly #keys: TokenKeeper<Kept>;
  #source = '';
  #region: string | undefined;
  #knowsDryRun = false;

  constructor(settings: AwsAccess, reach: Reach) {
    this.#settings = settings;
    this.#reach = reach;
    this.#query = new SignedQuery(settings, reach, (call) => this.regionFor(call));
    this.#sts = new SecurityTokens(this.#query);
    this.#role = new InstanceRole(reach);
    this.#keys = new TokenKeeper(reach.clock);
  }

  /** With new keys once, where those in use are not taken any more. */
  async ask(call: Call, { service = 'ec2', action, parameters }: Action, gate?: () => void): Promise<WebAnswer> {
    const version = service === 'ec2' ? VERSION : AUTO_SCALING_VERSION;
    const query = { service, action, version, parameters, gate };
    const keys = await this.#keysFor(call);
    const answer = await this.#query.ask(call, { ...query, keys });
    const failure = answer.status < 400 ? undefined : failureIn(answer.text);
    if (failure === undefined || !STALE_KEYS.has(failure.code)) return answer;
    // They may have been changed where they come from, whether or not they had an end.
    this.#keys.drop(keys);
    const renewed = await this.#keysFor(call);
    return areSame(keys, renewed) ? answer : this.#query.ask(call, { ...query, keys: renewed });
  }

  /** What changes nothing: repeated where EC2 is busy. `parse`: undefined where the answer is none of EC2. */
  async read<T>(call: Call, action: Action, parse: (text: string) => T | undefined): Promise<T> {
    const answer = await repeated(call, () => this.ask(call, action));
    if (answer.status !== 200) throw await this.#notFound(call, answer);
    const found = parse(answer.text);
    if (found === undefined) throw call.error('Unreachable', `an answer that is none of EC2: ${deviceMessage(answer.text, [])}`);
    return found;
  }

  /** The one instance of the target's plug. */
  async instance(call: Call): Promise<Ec2Instance> {
    const { plug } = call.target;
    const problem = instanceProblem(plug);
    if (problem !== undefined) throw call.error('Misconfigured', problem);
    const { instances } = await this.read(call, { action: 'DescribeInstances', parameters: { 'InstanceId.1': plug } }, instancesIn);
    const [instance, ...others] = instances.filter(({ id }) => id === plug);
    if (instance !== undefined && others.length === 0) return instance;
    const count = instance === undefined ? 0 : 1 + others.length;
    throw call.error('Misconfigured', `${count} instances ${plug} in region ${await this.regionFor(call)}: that proves nothing of its state`);
  }

  /**
   * Why these would be refused, by DryRun: nothing is done, and the rights are checked (EC2 API reference, "DryRunOperation"). An endpoint of somebody else that
   * does not know it would do what is asked: whether it does, it is asked by a read first.
   */
  async wouldRefuse(call: Call, actions: readonly Action[]): Promise<string | undefined> {
    const [first] = actions;
    if (first === undefined) return undefined;
    if (!this.#knowsDryRun) {
      const read = { action: 'DescribeInstances', parameters: { 'InstanceId.1': call.target.plug, DryRun: 'true' } };
      const answer = await repeated(call, () => this.ask(call, read));
      if (failureIn(answer.text)?.code !== 'DryRunOperation')
        return `whether it may be switched is not known: the endpoint does not know DryRun (HTTP ${answer.status})`;
      this.#knowsDryRun = true;
    }
    const refused: string[] = [];
    for (const { action, parameters } of actions) {
      const answer = await repeated(call, () => this.ask(call, { action, parameters: { ...parameters, DryRun: 'true' } }));
      const failure = failureIn(answer.text);
      if (failure !== undefined && answer.status < 500 && !WOULD_DO.has(failure.code))
        refused.push(`ec2:${action}: ${failure.code}: ${deviceMessage(failure.message, [])}`);
    }
    return refused.length === 0 ? undefined : refused.join('; ');
  }

  close(): void {
    this.#query.close();
    this.#role.close();
  }

  async regionFor(call: Call): Promise<string> {
    const { host } = this.#reach;
    this.#region ??=
      this.#settings.region ??
      host.variable('AWS_REGION') ??
      host.variable('AWS_DEFAULT_REGION') ??
      (await profileRegion({ settings: this.#settings, host })) ??
      (await this.#ownRegion(call));
    return this.#region;
  }

  refusal(call: Call, answer: WebAnswer): Error {
    const failure = failureIn(answer.text);
    const words = failure === undefined ? deviceMessage(answer.text, []) : `${failure.code}: ${deviceMessage(failure.message, [])}`;
    const asWhom = `credentials: ${this.#source}`;
    if (failure?.code === 'UnauthorizedOperation') return call.error('Refused', `${words} (${asWhom})`);
    if (answer.status === 401 || answer.status === 403 || (failure !== undefined && STALE_KEYS.has(failure.code)))
      return call.error('Misconfigured', `${words} (${asWhom})`);
    return call.error(answer.status >= 500 ? 'Unreachable' : 'Refused', `HTTP ${answer.status}: ${words}`);
  }

  /** An id that is not known says nothing of the machine: it may stand in another region or account. */
  async #notFound(call: Call, answer: WebAnswer): Promise<Error> {
    const failure = failureIn(answer.text);
    if (failure?.code !== 'InvalidInstanceID.NotFound') return this.refusal(call, answer);
    const where = `region ${await this.regionFor(call)} (credentials: ${this.#source})`;
    return call.error('Misconfigured', `${failure.message}: look for the right region and account, this is ${where}; it is no proof that it is off`);
  }

  #keysFor(call: Call): Promise<Kept> {
    return this.#keys.get(async () => {
      const parts = { settings: this.#settings, host: this.#reach.host, sts: this.#sts, role: this.#role };
      const { credentials, source } = await findKeys(call, parts);
      const { roleArn, externalId } = this.#settings;
      const keys = roleArn === undefined ? credentials : await this.#sts.withRole(call, credentials, roleArn, externalId);
      this.#source = roleArn === undefined ? source : `${source}, then ${roleArn}`;
      return { ...keys, text: keys.accessKeyId };
    });
  }

  async #ownRegion(call: Call): Promise<string> {
    const found = await this.#role.metadata(call, 'placement/region');
    if (typeof found === 'string') return found.trim();
    throw call.error('Misconfigured', `no region: write region=, or set AWS_REGION (${found.absent})`);
  }
}

function areSame(one: Keys, other: Keys): boolean {
  return one.accessKeyId === other.accessKeyId && one.secretAccessKey === other.secretAccessKey && one.sessionToken === other.sessionToken;
}

/** An instance id is never given to another instance. */
export function factsOf(call: Call, { id, addresses }: Ec2Instance): MachineFacts {
  const { providerID } = call.target.identity;
  const named = providerID === undefined ? undefined : awsInstance(providerID);
  const isOfAws = providerID?.startsWith('aws://') === true;
  return { providerID: named?.plug === id ? 'same' : isOfAws ? 'other' : 'unknown', addresses };
}
