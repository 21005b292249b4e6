import type { Clock } from '../ports/clock.ts';
import { TARGETS_MAX } from '../domain/policies/controller-isolated.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Logger } from '../ports/recorder.ts';
import { NO_ANSWERS } from '../ports/connectivity.ts';
import type { Answers, Questions, ConnectivityProbes } from '../ports/connectivity.ts';
import { apiPeers } from './api-peers.ts';
import { defaultGateway } from './default-gateway.ts';
import { etcdHealth, firingAlerts } from './http-answers.ts';
import { reach, targetOf } from './tcp-target.ts';
import type { Target } from './tcp-target.ts';

const EVERY_MS = 5_000;
const DEADLINE_MS = 4_000;
const HTTPS_PORT = 443;
/** A gateway need not listen anywhere: that it refuses is answer enough. */
const GATEWAY_PORT = 53;
/** Of each kind, of all policies together: several may name as many as one may. One that is not asked never answers, and holds every fence. */
const ASKED_MAX = 4 * TARGETS_MAX;

/** One probe of each kind, so that tests need no network. */
export interface Asking {
  gateway: () => Promise<string | undefined>;
  peers: () => Promise<Target[]>;
  reach: typeof reach;
  etcd: typeof etcdHealth;
  alerts: typeof firingAlerts;
}

/** Asks around every five seconds, each probe under a deadline, and only while it is wanted. */
export class Probes implements ConnectivityProbes {
  answers: Answers = NO_ANSWERS;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #asking: Asking;
  readonly #listeners: (() => void)[] = [];
  #questions: Questions | undefined;
  #cancel: (() => void) | undefined;
  #isBusy = false;

  constructor({ clock, log, cluster, asking }: { clock: Clock; log: Logger; cluster: Pick<Cluster, 'list'>; asking?: Partial<Asking> }) {
    this.#clock = clock;
    this.#log = log;
    this.#asking = { gateway: () => defaultGateway(), peers: () => apiPeers(cluster), reach, etcd: etcdHealth, alerts: firingAlerts, ...asking };
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  ask(questions: Questions): void {
    const isNew = this.#questions === undefined;
    this.#questions = questions;
    if (!isNew || this.#isBusy) return;
    // Not yet answered is not reached: nobody is judged before the first answers are there.
    const targets = new Map<string, undefined>((questions.targets ?? []).map((target) => [target, undefined]));
    this.answers = { ...NO_ANSWERS, targets };
    void this.#round();
  }

  rest(): void {
    this.#questions = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
    this.answers = NO_ANSWERS;
  }

  async #round(): Promise<void> {
    const questions = this.#questions;
    if (questions === undefined) return;
    this.#isBusy = true;
    const [targets, members, alerts] = await Promise.all([this.#targets(questions), this.#members(questions), this.#alerts(questions)]);
    this.#isBusy = false;
    if (this.#questions === undefined) return;
    const answers = { targets, members, alerts };
    const isChanged = describeAnswers(answers) !== describeAnswers(this.answers);
    if (isChanged) this.answers = answers;
    this.#cancel = this.#clock.after(EVERY_MS, () => void this.#round());
    if (isChanged) for (const listener of this.#listeners) listener();
  }

  async #targets({ targets }: Questions): Promise<Map<string, boolean | undefined>> {
    const found =
      targets === undefined
        ? await this.#ownTargets()
        : [...new Set(targets)].map((name) => ({ name, target: targetOf(name, HTTPS_PORT), isSilentGone: true }));
    const answers = await Promise.all(
      found.slice(0, ASKED_MAX).map(async ({ name, target, isSilentGone }) => {
        return [name, await this.#or(false, this.#asking.reach(target, DEADLINE_MS, isSilentGone ? false : undefined))] as const;
      }),
    );
    // A gateway that says nothing at all is neither there nor gone.
    return new Map(answers.filter(([, answer]) => answer !== undefined));
  }

  async #ownTargets(): Promise<{ name: string; target: Target; isSilentGone: boolean }[]> {
    const [gateway, peers] = await Promise.all([this.#or(undefined, this.#asking.gateway()), this.#or([], this.#asking.peers())]);
    const own = gateway === undefined ? [] : [{ name: `gateway ${gateway}`, target: { host: gateway, port: GATEWAY_PORT }, isSilentGone: false }];
    return [...own, ...peers.map((target) => ({ name: `API server ${target.host}:${target.port}`, target, isSilentGone: true }))];
  }

  async #members({ members }: Questions): Promise<Map<string, boolean>> {
    const answers = await Promise.all(
      [...members]
        .slice(0, ASKED_MAX)
        .map(async ([name, { host }]) => [name, await this.#or(undefined, this.#asking.etcd(host, DEADLINE_MS))] as const),
    );
    return new Map(answers.filter((pair): pair is readonly [string, boolean] => pair[1] !== undefined));
  }

  async #alerts({ alerts }: Questions): Promise<Map<string, readonly string[] | undefined>> {
    const queries = [...alerts].slice(0, ASKED_MAX);
    return new Map(
      await Promise.all(
        queries.map(async ([policy, query]) => [policy, await this.#or(undefined, this.#asking.alerts(query, DEADLINE_MS))] as const),
      ),
    );
  }

  async #or<T, E>(otherwise: E, asked: Promise<T>): Promise<T | E> {
    try {
      return await asked;
    } catch (error) {
      this.#log.debug('connectivity probe failed', { error: String(error) });
      return otherwise;
    }
  }
}

function describeAnswers({ targets, members, alerts }: Answers): string {
  return JSON.stringify([[...targets], [...members], [...alerts]]);
}
