import type { NodeDaemonStatus } from '../core/daemon.ts';
import type { UdpCounts } from './datagram-socket.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number | undefined];

export interface ServedStatus extends NodeDaemonStatus {
  datagrams: UdpCounts;
}

interface Metric {
  name: string;
  type: 'gauge' | 'counter';
  help: string;
  samples: (status: ServedStatus) => readonly Sample[];
}

const WATCHDOG_STATES = ['armed', 'disarmed', 'unreliable', 'none'];
const PHASES = ['off', 'waiting', 'kept', 'isolated', 'stopping', 'down'];

/** One of them is 1. */
function oneOf(label: string, all: readonly string[], current: string): Sample[] {
  return all.map((state) => [{ [label]: state }, Number(state === current)] as const);
}

function plain(name: string, type: Metric['type'], help: string, value: (status: ServedStatus) => number | undefined): Metric {
  return { name, type, help, samples: (status) => [[{}, value(status)]] };
}

export const NODE_METRICS: readonly Metric[] = [
  {
    name: 'nodefence_node_watchdog',
    type: 'gauge',
    help: 'State of the watchdog of this machine: 1 for the one that it is in.',
    samples: ({ watchdog }) => oneOf('state', WATCHDOG_STATES, watchdog.state),
  },
  plain('nodefence_node_watchdog_timeout_seconds', 'gauge', 'How long the watchdog waits to be fed.', ({ watchdog }) => watchdog.timeoutSeconds),
  plain('nodefence_node_watchdog_feeds_total', 'counter', 'How often the watchdog was fed.', ({ watchdog }) => watchdog.feeds),
  {
    name: 'nodefence_node_phase',
    type: 'gauge',
    help: 'Phase of the self-fence, off where it is off: 1 for the one that it is in.',
    samples: ({ phase }) => oneOf('phase', PHASES, phase),
  },
  plain(
    'nodefence_node_kept_seconds',
    'gauge',
    'How long this node is still kept up; negative: since when it is not.',
    (status) => status.keptForSeconds,
  ),
  plain('nodefence_node_grant_age_seconds', 'gauge', 'Since the last heartbeat that a controller granted.', (status) => status.grantedSecondsAgo),
  plain('nodefence_node_grants_ended', 'gauge', '1: the controllers keep this boot up no more.', (status) => Number(status.areGrantsEnded)),
  plain('nodefence_node_attestation_age_seconds', 'gauge', 'Since the API server took the last attestation.', (status) => status.attestedSecondsAgo),
  plain('nodefence_node_controllers', 'gauge', 'Controllers that are sent heartbeats.', ({ controllers }) => controllers.length),
  plain('nodefence_node_peers', 'gauge', 'Peers whose vouch counts.', ({ peers }) => peers.filter(({ isAttested }) => isAttested).length),
  {
    name: 'nodefence_node_check',
    type: 'gauge',
    help: 'What each check of this node found last: 1 for it.',
    samples: ({ checks }) => checks.map(({ name, health }) => [{ check: name, health }, 1]),
  },
  {
    name: 'nodefence_node_check_age_seconds',
    type: 'gauge',
    help: 'Since each check of this node found something.',
    samples: ({ checks }) => checks.map(({ name, secondsAgo }) => [{ check: name }, secondsAgo]),
  },
  {
    name: 'nodefence_node_datagrams_total',
    type: 'counter',
    help: 'Datagrams sent and received; failed, overflowed and oversized ones are lost.',
    samples: ({ datagrams }) => Object.entries(datagrams).map(([event, count]: [string, number]) => [{ event }, count]),
  },
  {
    name: 'nodefence_node_datagrams_refused_total',
    type: 'counter',
    help: 'Datagrams that were not what they claimed to be.',
    samples: ({ refusedDatagrams }) => Object.entries(refusedDatagrams).map(([reason, count]) => [{ reason }, count]),
  },
  plain('nodefence_node_problems', 'gauge', 'Problems that nodefence node status shows.', ({ problems }) => problems.length),
];

/** The text format of Prometheus, without its client library: the daemon stays small. */
export function metricsText(status: ServedStatus): string {
  return NODE_METRICS.map(({ name, type, help, samples }) => {
    const lines = samples(status).flatMap(([labels, value]) => (value === undefined ? [] : [`${name}${labelsText(labels)} ${value}`]));
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
  }).join('');
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replaceAll(/[\\"\n]/g, (letter) => (letter === '\n' ? '\\n' : `\\${letter}`))}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
