import type { Outcome, PlugEntry } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { CloudAccount, InstanceView, MachineFacts } from '../shared/cloud/instance.ts';
import type { Cloud, Reach } from '../shared/cloud/instance-agent.ts';
import { repeated, sentOnce } from '../shared/cloud/repeat.ts';
import { TokenKeeper, type Token } from '../shared/cloud/tokens.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import type { WebAnswer } from '../shared/web/web-client.ts';
import { changeIn, failureIn, instancesIn, type Ec2Instance } from './answers.ts';
import { InstanceRole } from './instance-role.ts';
import { findKeys, profileRegion } from './keys.ts';
import { awsInstance, awsSettings, instanceProblem, type AwsSettings, type Keys } from './parameters.ts';
import { SecurityTokens } from './security-tokens.ts';
import { SignedQuery } from './signed-query.ts';

const VERSION = '2016-11-15';
const LISTED_MAX = 1_000;
/** Keys that ended, or that nobody knows any more. */
const STALE_KEYS = new Set(['ExpiredToken', 'ExpiredTokenException', 'InvalidClientTokenId', 'RequestExpired', 'AuthFailure']);

export const awsCloud: Cloud<AwsSettings> = {
  settingsOf: awsSettings,
  open: (settings, reach) => new Ec2Account(settings, reach),
};

type Kept = Keys & Token;

/** Instances of one account and region, by the Query API of EC2. */
class Ec2Account implements CloudAccount {
  readonly #settings: AwsSettings;
  readonly #reach: Reach;
  readonly #query: SignedQuery;
  readonly #sts: SecurityTokens;
  readonly #role: InstanceRole;
  readonly #keys: TokenKeeper<Kept>;
  #source = '';
  #region: string | undefined;

  constructor(settings: AwsSettings, reach: Reach) {
    this.#settings = settings;
    this.#reach = reach;
    this.#query = new SignedQuery(settings, reach, (call) => this.#regionFor(call));
    this.#sts = new SecurityTokens(this.#query);
    this.#role = new InstanceRole(reach);
    this.#keys = new TokenKeeper(reach.clock);
  }

  async read(call: Call): Promise<InstanceView> {
    const { plug, isProbe } = call.target;
    const problem = instanceProblem(plug);
    if (problem !== undefined) throw call.error('Misconfigured', problem);
    const instance = await this.#find(call, plug);
    const wouldRefuse = isProbe === true ? await this.#wouldRefuse(call, plug) : undefined;
    const remarks = isProbe === true ? instance.remarks : [];
    return {
      id: plug,
      state: instance.state,
      detail: [instance.shown, ...remarks].join('; '),
      machine: factsOf(call, instance),
      ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
    };
  }

  async set(call: Call, { id }: InstanceView, state: 'on' | 'off'): Promise<Outcome> {
    const gate = (): void => call.target.beforeSend();
    return sentOnce(call, async () => {
      const answer = await this.#ask(call, actionFor(state), this.#parametersFor(id, state), gate);
      if (answer.status === 200) return { result: 'accepted', detail: changeIn(answer.text) ?? 'HTTP 200' };
      const failure = failureIn(answer.text);
      // A state in which nothing is to be done may be the wished one already; what broke inside may have been done: reads decide.
      if (failure === undefined || failure.code === 'IncorrectInstanceState' || answer.status >= 500)
        return { result: 'unclear', detail: `HTTP ${answer.status}${failure === undefined ? '' : `: ${failure.code}: ${failure.message}`}` };
      throw this.#refusal(call, answer);
    });
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    const found: Ec2Instance[] = [];
    let token: string | undefined;
    do {
      const page = { MaxResults: String(LISTED_MAX), ...(token === undefined ? {} : { NextToken: token }) };
      const listed = await this.#describe(call, page);
      found.push(...listed.instances);
      token = listed.nextToken;
    } while (token !== undefined && found.length < LISTED_MAX);
    return found.slice(0, LISTED_MAX).map(({ id, name, state }) => ({ plug: id, state, ...(name === undefined ? {} : { alias: name }) }));
  }

  close(): Promise<void> {
    this.#query.close();
    this.#role.close();
    return Promise.resolve();
  }

  async #find(call: Call, plug: string): Promise<Ec2Instance> {
    const { instances } = await this.#describe(call, { 'InstanceId.1': plug });
    const found = instances.filter(({ id }) => id === plug);
    const [instance] = found;
    if (found.length !== 1 || instance === undefined)
      throw call.error(
        'Misconfigured',
        `${found.length} instances ${plug} in region ${await this.#regionFor(call)}: that proves nothing of its state`,
      );
    return instance;
  }

  async #describe(call: Call, parameters: Record<string, string>): Promise<NonNullable<ReturnType<typeof instancesIn>>> {
    const answer = await repeated(call, () => this.#ask(call, 'DescribeInstances', parameters));
    if (answer.status !== 200) throw await this.#notFound(call, answer);
    const listed = instancesIn(answer.text);
    if (listed === undefined) throw call.error('Unreachable', `an answer that is none of EC2: ${deviceMessage(answer.text, [])}`);
    return listed;
  }

  /** An id that is not known says nothing of the machine: it may stand in another region or account. */
  async #notFound(call: Call, answer: WebAnswer): Promise<Error> {
    const failure = failureIn(answer.text);
    if (failure?.code !== 'InvalidInstanceID.NotFound') return this.#refusal(call, answer);
    const where = `region ${await this.#regionFor(call)} (credentials: ${this.#source})`;
    return call.error('Misconfigured', `${failure.message}: look for the right region and account, this is ${where}; it is no proof that it is off`);
  }

  /** What DryRun says: nothing is done, and the rights are checked (EC2 API reference, "DryRunOperation"). */
  async #wouldRefuse(call: Call, plug: string): Promise<string | undefined> {
    const refused: string[] = [];
    for (const state of ['off', 'on'] as const) {
      const answer = await repeated(call, () => this.#ask(call, actionFor(state), { ...this.#parametersFor(plug, state), DryRun: 'true' }));
      const failure = failureIn(answer.text);
      if (failure?.code === 'UnauthorizedOperation' || failure?.code === 'UnsupportedOperation')
        refused.push(`ec2:${actionFor(state)}: ${failure.code}: ${deviceMessage(failure.message, [])}`);
    }
    return refused.length === 0 ? undefined : refused.join('; ');
  }

  #parametersFor(plug: string, state: 'on' | 'off'): Record<string, string> {
    if (state === 'on') return { 'InstanceId.1': plug };
    return { 'InstanceId.1': plug, Force: 'true', ...(this.#settings.skipOsShutdown ? { SkipOsShutdown: 'true' } : {}) };
  }

  /** With new keys once, where those in use are not taken any more. */
  async #ask(call: Call, action: string, parameters: Record<string, string>, gate?: () => void): Promise<WebAnswer> {
    const query = { service: 'ec2', action, version: VERSION, parameters, gate } as const;
    const keys = await this.#keysFor(call);
    const answer = await this.#query.ask(call, { ...query, keys });
    const failure = answer.status < 400 ? undefined : failureIn(answer.text);
    if (failure === undefined || !STALE_KEYS.has(failure.code) || keys.expiresAtMs === Number.POSITIVE_INFINITY) return answer;
    this.#keys.drop(keys);
    return this.#query.ask(call, { ...query, keys: await this.#keysFor(call) });
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

  async #regionFor(call: Call): Promise<string> {
    const { host } = this.#reach;
    this.#region ??=
      this.#settings.region ??
      host.variable('AWS_REGION') ??
      host.variable('AWS_DEFAULT_REGION') ??
      (await profileRegion({ settings: this.#settings, host })) ??
      (await this.#ownRegion(call));
    return this.#region;
  }

  async #ownRegion(call: Call): Promise<string> {
    const found = await this.#role.metadata(call, 'placement/region');
    if (typeof found === 'string') return found.trim();
    throw call.error('Misconfigured', `no region: write region=, or set AWS_REGION (${found.absent})`);
  }

  #refusal(call: Call, answer: WebAnswer): Error {
    const failure = failureIn(answer.text);
    const words = failure === undefined ? deviceMessage(answer.text, []) : `${failure.code}: ${deviceMessage(failure.message, [])}`;
    const asWhom = `credentials: ${this.#source}`;
    if (failure?.code === 'UnauthorizedOperation') return call.error('Refused', `${words} (${asWhom})`);
    if (answer.status === 401 || answer.status === 403 || (failure !== undefined && STALE_KEYS.has(failure.code)))
      return call.error('Misconfigured', `${words} (${asWhom})`);
    return call.error(answer.status >= 500 ? 'Unreachable' : 'Refused', `HTTP ${answer.status}: ${words}`);
  }
}

function actionFor(state: 'on' | 'off'): 'StartInstances' | 'StopInstances' {
  return state === 'on' ? 'StartInstances' : 'StopInstances';
}

/** An instance id is never given to another instance. */
function factsOf(call: Call, { id, addresses }: Ec2Instance): MachineFacts {
  const { providerID } = call.target.identity;
  const named = providerID === undefined ? undefined : awsInstance(providerID);
  const isOfAws = providerID?.startsWith('aws://') === true;
  return { providerID: named?.plug === id ? 'same' : isOfAws ? 'other' : 'unknown', addresses };
}
