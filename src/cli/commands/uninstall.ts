import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { REQUESTED_BY } from '../../ports/authorship.ts';
import { LEASES, NODE_FENCE_STOPS, NODE_FENCES } from '../../ports/resources.ts';
import type { ClusterFlags } from '../cluster-access.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { partingOf } from '../uninstall/parting.ts';
import type { Parting } from '../uninstall/parting.ts';
import { daemonsInTheWay, removeDaemonObjects } from '../uninstall/node-daemons.ts';
import { cleanNodes, listServed, removeDeployment, removeFinalizers, removeKinds, removeLeases } from '../uninstall/removal.ts';
import { CommandFailure, EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { leaderOf, describeLeader } from './leader.ts';
import { personCommand, run } from './person-command.ts';
import type { Session } from './person-command.ts';
import { requesterOf } from './requester.ts';
import { print } from './terminal/console.ts';
import { harmless } from './terminal/text.ts';

interface UninstallFlags extends ClusterFlags {
  keepFences?: true;
  abandon?: true;
  yes?: true;
  timeout: number;
}

const STOP = 'nodefence-uninstall';
/** A lease, and what a pod takes to end. */
const ENDS_WITHIN_S = 45;
const ENDS_WITHIN_MAX_S = 3_600;
const POLL_MS = 500;

/** `nodefence uninstall`. */
export function uninstallCommand(): Command {
  return personCommand(
    'uninstall',
    'end the controller, remove its marks on nodes, its objects and its kinds; switches nothing on and releases no workload',
  )
    .option('--keep-fences', 'keep the kinds and every NodeFence as a record; the stop of all nodes stays too')
    .option('--abandon', 'go on although a fence is open that only a controller finishes; lists what you must finish by hand')
    .option('--yes', 'do not ask for confirmation')
    .option('--timeout <seconds>', 'wait this long for the controller to end', timeoutArgument, ENDS_WITHIN_S)
    .action((flags: UninstallFlags) => run(flags, (session) => uninstall(session, flags)));
}

function timeoutArgument(text: string): number {
  const seconds = Number(text);
  if (!/^\d+$/u.test(text) || seconds < 1 || seconds > ENDS_WITHIN_MAX_S)
    throw new InvalidArgumentError(`must be a whole number of seconds from 1 to ${ENDS_WITHIN_MAX_S}.`);
  return seconds;
}

async function uninstall(session: Session, flags: UninstallFlags): Promise<ExitCode> {
  const { access, console } = session;
  // Asked before anything is changed: a fence that is under way is better finished by its controller.
  if (refused(session, await partings(session), flags) || (await areDaemonsInTheWay(session))) return EXIT.held;
  await demandConsent(session, flags);
  await stopAll(session);
  if (await removeDeployment(access)) print(console, `Deployment nodefence-controller deleted in ${access.namespace}`);
  if (!(await isLeaderless(session, flags))) return EXIT.held;
  const found = await partings(session);
  if (refused(session, found, flags) || (await areDaemonsInTheWay(session))) return EXIT.held;
  const closed = new Set(found.filter(({ keepsCordon }) => keepsCordon).map(({ node }) => node));
  for (const step of [cleanNodes(access, closed), removeLeases(access), removeDaemonObjects(access), removeFinalizers(access)])
    for await (const line of step) print(console, harmless(line));
  for (const { node, left } of found) for (const line of left) print(console, harmless(`LEFT: ${node}: ${line}.`), console.ink.warn);
  if (flags.keepFences === true) {
    print(
      console,
      `The kinds and every NodeFence stay; NodeFenceStop ${STOP} keeps a controller that is installed again from acting: kubectl delete nodefencestop ${STOP}`,
    );
    return done(session, flags);
  }
  const { removed, waiting } = await removeKinds(access);
  for (const name of removed) print(console, `Kind ${name} deleted, with its objects`);
  if (waiting.length === 0) return done(session, flags);
  print(
    console,
    `Not gone yet: ${waiting.join(', ')}. A finalizer that nodefence did not set keeps an object of it; run this again when it is gone.`,
    console.ink.bad,
  );
  return EXIT.failed;
}

function done({ access, console }: Session, { keepFences }: UninstallFlags): ExitCode {
  const rights = keepFences === true ? 'Rights and configuration stay' : 'What is left are rights and configuration';
  print(
    console,
    `UNINSTALLED. ${rights}: kubectl delete -k config/rbac --ignore-not-found takes them away, with the namespace ${access.namespace} and the Secrets in it.`,
    console.ink.good,
  );
  return EXIT.done;
}

async function partings({ access }: Session): Promise<Parting[]> {
  const nowMs = access.clock.wallMs();
  return (await listServed(access.cluster, NODE_FENCES)).map((fence) => partingOf(fence, nowMs));
}

/** Says of each fence that is open what would be left of it. */
function refused({ console }: Session, found: readonly Parting[], { abandon }: UninstallFlags): boolean {
  const holding = found.filter(({ kind }) => kind === 'busy' || (kind === 'open' && abandon !== true));
  for (const { node, kind, left } of holding) {
    const words = kind === 'busy' ? 'a call to a device' : 'its fence is open';
    print(console, harmless(`OPEN: ${node}: ${words}: ${left.join('; ')}.`), console.ink.bad);
  }
  if (holding.length === 0) return false;
  const wayOut = holding.some(({ kind }) => kind === 'open')
    ? ' A controller finishes it (nodefence status -w; nodefence resume if it is stopped). Or go on with --abandon: then you must do by hand what is listed above.'
    : '';
  print(console, `Nothing more was removed.${wayOut}`);
  return true;
}

async function demandConsent({ console, access }: Session, { yes, keepFences }: UninstallFlags): Promise<void> {
  if (yes === true) return;
  if (!console.canAsk) throw new CommandFailure('nothing was removed: there is no terminal to ask at; say --yes when you are sure', EXIT.usage);
  const what = keepFences === true ? 'nodefence' : 'nodefence, with every record of its fences,';
  const answer = await console.ask(`Type uninstall to remove ${what} from the cluster at ${access.server}: `);
  if (answer.trim() !== 'uninstall') throw new CommandFailure('nothing was removed: that is not uninstall');
}

/** Neither --abandon nor a yes helps: a machine would reset itself. */
async function areDaemonsInTheWay({ access, console }: Session): Promise<boolean> {
  const found = await daemonsInTheWay(access);
  for (const words of found) print(console, harmless(`HELD: ${words}.`), console.ink.bad);
  if (found.length > 0) print(console, 'Nothing more was removed. Node daemons end before their controllers; then run this again.');
  return found.length > 0;
}

/** No new call begins from here on, whoever leads. */
async function stopAll({ access, console }: Session): Promise<void> {
  const annotations = { [REQUESTED_BY]: await requesterOf(access) };
  try {
    await access.cluster.create(NODE_FENCE_STOPS, { metadata: { name: STOP, annotations }, spec: { all: true, reason: 'nodefence uninstall' } });
    print(console, `STOPPED: all nodes (NodeFenceStop ${STOP})`);
  } catch (error) {
    // It stands from an earlier call, or the kind is gone with one.
    if (!(error instanceof ApiStatusError) || (error.status !== 409 && error.status !== 404)) throw error;
  }
}

/** A leader that is not ours to end is named. */
async function isLeaderless({ access, console }: Session, { timeout }: UninstallFlags): Promise<boolean> {
  const { cluster, clock, namespace } = access;
  for (const untilMs = clock.monotonicMs() + timeout * 1_000; ;) {
    const leader = leaderOf(await cluster.get(LEASES, LEADER_LEASE, namespace), clock.wallMs());
    if (!leader.isAlive) return true;
    if (clock.monotonicMs() < untilMs) {
      await clock.sleep(POLL_MS);
      continue;
    }
    print(
      console,
      `HELD: ${describeLeader(leader, clock.wallMs())}: end that controller (systemctl disable --now nodefence-controller, or its own Deployment), then run this again.`,
      console.ink.bad,
    );
    return false;
  }
}
