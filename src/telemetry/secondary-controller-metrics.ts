import type { Registry } from 'prom-client';
import { KDUMP_RESULTS } from '../domain/kdump/message.ts';
import { ORDERED_ACTIONS } from '../domain/node-daemon/order.ts';
import { CHECK_STATES, DATAGRAM_REFUSALS, ORDER_RESULTS, REMEDIATION_PHASES, WATCHED_MACHINE_STATES } from '../ports/metrics.ts';
import type { Metrics } from '../ports/metrics.ts';
import { Meters, setAll } from './meters.ts';

type SecondaryControllerMetrics = Pick<
  Metrics,
  'preservation' | 'healthChecks' | 'remediation' | 'machineRemediation' | 'metal3Remediation' | 'nodeDaemons' | 'kdump' | 'remedies' | 'problems'
>;

/** The controllers beside the one that fences: what each does and what stands, by the same names, and what each alone knows. */
export function secondaryControllerMetrics(registry: Registry): SecondaryControllerMetrics {
  const meters = new Meters(registry);
  const actions = meters.counter('nodefence_controller_actions_total', 'Writes and drains of the other controllers, by result.', [
    'controller',
    'kind',
    'result',
  ]);
  const problems = meters.gauge('nodefence_controller_problems', 'Problems that need attention now.', ['controller']);
  const common = (controller: string): Metrics['machineRemediation'] => ({
    acted: (kind, result) => actions.inc({ controller, kind, result }),
    problems: (count) => problems.set({ controller }, count),
  });
  return {
    preservation: { ...common('preservation'), ...preservation(meters) },
    healthChecks: { ...common('health-checks'), ...healthChecks(meters) },
    remediation: { ...common('remediation'), ...remediation(meters) },
    machineRemediation: common('machine-remediation'),
    metal3Remediation: common('metal3-remediation'),
    nodeDaemons: { ...common('node-daemons'), ...nodeDaemons(meters) },
    kdump: { ...common('kdump'), ...kdump(meters) },
    remedies: { ...common('remedies'), ...remedies(meters) },
    problems: { ...common('problems'), ...nodeProblems(meters) },
  };
}

/** Machines that are kept for a look. */
function preservation(meters: Meters): Pick<Metrics['preservation'], 'preserved' | 'expiry'> {
  const preserved = meters.gauge(
    'nodefence_preserved_machines',
    'Machines, and Nodes without one, that are preserved now, by pool, cause and phase.',
    ['pool', 'cause', 'phase'],
  );
  const expiry = meters.gauge('nodefence_preservation_expiry_seconds', 'Time until the first preservation of a pool ends.', ['pool']);
  return {
    preserved: (counts) => {
      preserved.reset();
      for (const { pool, cause, phase, count } of counts) preserved.set({ pool, cause, phase }, count);
    },
    expiry: (remainingMsByPool) => {
      setAll(
        expiry,
        'pool',
        [...remainingMsByPool].map(([pool, remainingMs]) => [pool, remainingMs / 1000]),
      );
    },
  };
}

/** MachineHealthChecks and their machines, over all checks. */
function healthChecks(meters: Meters): Pick<Metrics['healthChecks'], 'checks' | 'machines'> {
  const checks = meters.gauge('nodefence_health_checks', 'MachineHealthChecks now, by whether they may remediate.', ['state']);
  const machines = meters.gauge('nodefence_health_check_machines', 'Machines under a MachineHealthCheck now, by state.', ['state']);
  return {
    checks: (counts) => {
      setAll(
        checks,
        'state',
        CHECK_STATES.map((state) => [state, counts[state] ?? 0]),
      );
    },
    machines: (counts) => {
      setAll(
        machines,
        'state',
        WATCHED_MACHINE_STATES.map((state) => [state, counts[state] ?? 0]),
      );
    },
  };
}

/** Requests for a fence, of whichever kind. */
function remediation(meters: Meters): Pick<Metrics['remediation'], 'requests'> {
  const requests = meters.gauge('nodefence_remediation_requests', 'Requests for remediation now, by phase.', ['phase']);
  return {
    requests: (counts) => {
      setAll(
        requests,
        'phase',
        REMEDIATION_PHASES.map((phase) => [phase, counts[phase] ?? 0]),
      );
    },
  };
}

/** What the daemons on nodes say; a node's own name would be one series per node. */
function nodeDaemons(meters: Meters): Pick<Metrics['nodeDaemons'], 'received' | 'refused' | 'answered' | 'ordered' | 'daemons' | 'suspected'> {
  const received = meters.counter('nodefence_node_heartbeats_received_total', 'Heartbeats of node daemons that were accepted.');
  const refused = meters.counter('nodefence_node_heartbeats_refused_total', 'Datagrams that were dropped, by reason.', ['reason']);
  const answered = meters.counter('nodefence_node_grants_total', 'Answers to heartbeats, by answer.', ['answer']);
  const ordered = meters.counter(
    'nodefence_node_orders_total',
    'Orders of soft fences: given, and what became of each; of refused ones the reason of the daemon, unknown where it says none.',
    ['action', 'result', 'reason'],
  );
  const daemons = meters.gauge(
    'nodefence_node_daemons',
    'Nodes now by what their daemon says: attested, heard, armed; silent ones that others see renew their slot on storage: alive-on-storage; those whose clock was last measured as running wrong by more than 2 % of ours: clock-slow, clock-fast.',
    ['state'],
  );
  const suspected = meters.gauge('nodefence_node_daemons_silent', 'Nodes whose silence fast detection judges now: suspected, held, failed.', [
    'verdict',
  ]);
  for (const reason of DATAGRAM_REFUSALS) refused.inc({ reason }, 0);
  for (const action of ORDERED_ACTIONS) for (const result of ORDER_RESULTS) if (result !== 'refused') ordered.inc({ action, result, reason: '' }, 0);
  return {
    received: () => received.inc(),
    refused: (reason) => refused.inc({ reason }),
    answered: (answer) => answered.inc({ answer }),
    ordered: (action, result, reason) => ordered.inc({ action, result, reason: reason ?? (result === 'refused' ? 'unknown' : '') }),
    daemons: (counts) => {
      setAll(daemons, 'state', Object.entries(counts));
    },
    suspected: (counts) => {
      setAll(suspected, 'verdict', Object.entries(counts));
    },
  };
}

/** What crash kernels say: a label for each address would be for whoever floods to choose. */
function kdump(meters: Meters): Pick<Metrics['kdump'], 'message' | 'dumps'> {
  const messages = meters.counter('nodefence_kdump_messages_total', 'Datagrams to the port of kdump messages, by what they turned out to be.', [
    'result',
  ]);
  const nodes = meters.gauge('nodefence_kdump_nodes', 'Nodes that are not Ready now, by what their crash kernel is heard to do.', ['state']);
  for (const result of KDUMP_RESULTS) messages.inc({ result }, 0);
  return {
    message: (result) => messages.inc({ result }),
    dumps: (counts) => {
      setAll(
        nodes,
        'state',
        Object.entries(counts).map(([state, count]) => [state.toLowerCase(), count]),
      );
    },
  };
}

/** Conditions and remedies are those that an admin named. */
function remedies(meters: Meters): Pick<Metrics['remedies'], 'ended' | 'positions'> {
  const ended = meters.counter('nodefence_remedies_total', 'Remedies that have ended, by the condition that they answered, and result.', [
    'condition',
    'remedy',
    'result',
  ]);
  const positions = meters.gauge('nodefence_remedy_conditions', 'Conditions of nodes that remedies answer now, by where those are.', ['phase']);
  return {
    ended: (condition, remedy, result) => ended.inc({ condition, remedy, result }),
    positions: (counts) => {
      setAll(positions, 'phase', Object.entries(counts));
    },
  };
}

/** What goes wrong with nodes: reasons that an alarm names, because anyone may write an Event with any reason. */
function nodeProblems(meters: Meters): Pick<Metrics['problems'], 'counted' | 'alarms'> {
  const problems = meters.counter('nodefence_node_problems_total', 'Problems of nodes, by the reasons that alarms name; all else is other.', [
    'reason',
  ]);
  const alarms = meters.gauge('nodefence_problem_alarms', 'Alarms that are raised now, by reason and by whom they are about: a node or a workload.', [
    'reason',
    'about',
  ]);
  return {
    counted: (reason, times) => problems.inc({ reason }, times),
    alarms: (counts) => {
      alarms.reset();
      for (const [reason, about] of counts) for (const [name, count] of Object.entries(about)) alarms.set({ reason, about: name }, count);
    },
  };
}
