import { Counter, Gauge, type Registry } from 'prom-client';
import type { PreservationMetrics } from '../ports/metrics.ts';

/** Machines that are kept for a look. */
export function preservationMetrics(registry: Registry): PreservationMetrics {
  const registers = [registry];
  const preserved = new Gauge({
    name: 'nodefence_preserved_machines',
    help: 'Machines, and Nodes without one, that are preserved now, by pool, cause and phase.',
    labelNames: ['pool', 'cause', 'phase'] as const,
    registers,
  });
  const expiry = new Gauge({
    name: 'nodefence_preservation_expiry_seconds',
    help: 'Time until the first preservation of a pool ends.',
    labelNames: ['pool'] as const,
    registers,
  });
  const actions = new Counter({
    name: 'nodefence_preservation_actions_total',
    help: 'Writes and drains of preservation, by what became of them.',
    labelNames: ['kind', 'result'] as const,
    registers,
  });
  return {
    preserved: (counts) => {
      preserved.reset();
      for (const { pool, cause, phase, count } of counts) preserved.set({ pool, cause, phase }, count);
    },
    expiry: (remainingMsByPool) => {
      expiry.reset();
      for (const [pool, remainingMs] of remainingMsByPool) expiry.set({ pool }, remainingMs / 1000);
    },
    acted: (kind, result) => actions.inc({ kind, result }),
  };
}
