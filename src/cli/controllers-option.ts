import { InvalidArgumentError } from 'commander';

/** Controllers beside the one that fences, which cannot be left out. */
const SISTERS = ['preservation', 'probes', 'remediation', 'health-check', 'machine-remediation', 'metal3-remediation'] as const;
export type Sister = (typeof SISTERS)[number];

/** `*,-probes`: all but one; `preservation`: that one alone; empty: none. As --controllers of kube-controller-manager. */
export function sisterControllers(text: string): ReadonlySet<Sister> {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  for (const word of words) {
    const name = word.replace(/^-/u, '');
    if (word !== '*' && !SISTERS.some((sister) => sister === name))
      throw new InvalidArgumentError(`${word} is none of *, ${SISTERS.join(', ')}, or one of them with - before it.`);
  }
  const isAll = words.includes('*');
  return new Set(SISTERS.filter((sister) => !words.includes(`-${sister}`) && (isAll || words.includes(sister))));
}
