import type { NodeFacts } from '../../config/configuration.ts';
import type { SurveyProblem } from '../../config/survey.ts';
import type { Plan } from '../../domain/plan.ts';
import type { ProbeResult } from './probe-result.ts';

/** One thing that is wrong, and every place where a person finds it. */
export interface ReportedProblem extends Omit<SurveyProblem, 'severity'> {
  severity: 'error' | 'warning';
  file?: string;
  line?: number;
}

export interface ReportedNode {
  facts: NodeFacts;
  plan: Plan;
  /** Present with --probe. */
  devices?: readonly ProbeResult[];
}

export interface StandingPolicies {
  configured: readonly string[];
  byDefault: readonly string[];
}

/** Everything that `nodefence validate` found. */
export interface Report {
  source: string;
  nodes: readonly ReportedNode[];
  /** Errors first. */
  problems: readonly ReportedProblem[];
  notes: readonly string[];
  /** Configurations of remedies that were read; absent: none was there to be read. */
  remedies?: number;
  /** Names of the storm policies that stand, where a ConfigMap or `policies=` says something of them; absent: all are the defaults. */
  policies?: StandingPolicies;
  /** Ctrl-C came before every device was read. */
  isInterrupted: boolean;
}

export function countOf({ problems }: Pick<Report, 'problems'>, severity: ReportedProblem['severity']): number {
  return problems.filter((problem) => problem.severity === severity).length;
}

/** One object for programs; never holds a Secret. */
export function reportObject(report: Report): object {
  const errors = countOf(report, 'error');
  return {
    valid: errors === 0,
    source: report.source,
    errors,
    warnings: countOf(report, 'warning'),
    problems: report.problems,
    notes: report.notes,
    ...(report.remedies === undefined ? {} : { remedies: report.remedies }),
    ...(report.policies === undefined ? {} : { policies: report.policies }),
    nodes: report.nodes.map(({ facts, plan: { problems: _told, ...plan }, devices }) => ({
      name: facts.name,
      ...plan,
      ...(devices === undefined ? {} : { devices }),
    })),
    ...(report.isInterrupted ? { interrupted: true } : {}),
  };
}
