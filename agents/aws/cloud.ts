import type { Outcome, PlugEntry, Removal } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { CloudAccount, InstanceView } from '../shared/cloud/instance.ts';
import type { Cloud } from '../shared/cloud/instance-agent.ts';
import { sentOnce } from '../shared/cloud/repeat.ts';
import { changeIn, failureIn, instancesIn, type Ec2Instance } from './answers.ts';
import { Ec2Api, factsOf, type Action } from './ec2-api.ts';
import { instanceSettings, type InstanceSettings } from './parameters.ts';
import { removalOf, removeInstance, terminationOf } from './removal.ts';

const LISTED_MAX = 1_000;

export const awsCloud: Cloud<InstanceSettings> = {
  isPublic: true,
  settingsOf: instanceSettings,
  open: (settings, reach) => new Ec2Account(new Ec2Api(settings, reach), settings.skipOsShutdown),
};

/** Instances of one account and region, by the Query API of EC2. */
class Ec2Account implements CloudAccount {
  readonly #api: Ec2Api;
  readonly #skipOsShutdown: boolean;

  constructor(api: Ec2Api, skipOsShutdown: boolean) {
    this.#api = api;
    this.#skipOsShutdown = skipOsShutdown;
  }

  async read(call: Call): Promise<InstanceView> {
    const { isProbe, deletes } = call.target;
    const instance = await this.#api.instance(call);
    const { id, shown } = instance;
    const switching = (['off', 'on'] as const).map((state) => this.#actionFor(id, state));
    // Auto Scaling has no dry run: there the right of EC2 is asked for in its place.
    const actions = deletes === true ? [switching[0], terminationOf({ id })].flatMap((action) => action ?? []) : switching;
    const wouldRefuse = isProbe === true ? await this.#api.wouldRefuse(call, actions) : undefined;
    const remarks = isProbe === true ? instance.remarks : [];
    return {
      id,
      state: instance.state,
      detail: [shown, ...remarks].join('; '),
      machine: factsOf(call, instance),
      ...(instance.isTerminated ? { cannotStart: `${shown}: it is gone for good, and a new instance has to take its place` } : {}),
      ...(instance.group === undefined ? {} : { group: instance.group }),
      ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
    };
  }

  async set(call: Call, { id }: InstanceView, state: 'on' | 'off'): Promise<Outcome> {
    const gate = (): void => call.target.beforeSend();
    return sentOnce(call, async () => {
      const answer = await this.#api.ask(call, this.#actionFor(id, state), gate);
      if (answer.status === 200) return { result: 'accepted', detail: changeIn(answer.text) ?? 'HTTP 200' };
      const failure = failureIn(answer.text);
      // A state in which nothing is to be done may be the wished one already; what broke inside may have been done: reads decide.
      if (failure === undefined || failure.code === 'IncorrectInstanceState' || answer.status >= 500)
        return { result: 'unclear', detail: `HTTP ${answer.status}${failure === undefined ? '' : `: ${failure.code}: ${failure.message}`}` };
      throw this.#api.refusal(call, answer);
    });
  }

  async remove(call: Call, view: InstanceView): Promise<Outcome> {
    return removeInstance(call, this.#api, view);
  }

  async removal(call: Call): Promise<Removal> {
    return removalOf(call, this.#api);
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    const found: Ec2Instance[] = [];
    let token: string | undefined;
    do {
      const page = { MaxResults: String(LISTED_MAX), ...(token === undefined ? {} : { NextToken: token }) };
      const listed = await this.#api.read(call, { action: 'DescribeInstances', parameters: page }, instancesIn);
      found.push(...listed.instances);
      token = listed.nextToken;
    } while (token !== undefined && found.length < LISTED_MAX);
    return found.slice(0, LISTED_MAX).map(({ id, name, state }) => ({ plug: id, state, ...(name === undefined ? {} : { alias: name }) }));
  }

  close(): Promise<void> {
    this.#api.close();
    return Promise.resolve();
  }

  #actionFor(id: string, state: 'on' | 'off'): Action {
    if (state === 'on') return { action: 'StartInstances', parameters: { 'InstanceId.1': id } };
    const parameters = { 'InstanceId.1': id, Force: 'true', ...(this.#skipOsShutdown ? { SkipOsShutdown: 'true' } : {}) };
    return { action: 'StopInstances', parameters };
  }
}
