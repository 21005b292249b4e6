import { InvalidArgumentError } from 'commander';

/** Controllers beside the one that fences, which cannot be left out. */
const SECONDARY_CONTROLLERS = [
  'preservation',
  'probes',
  'remediation',
  'health-check',
  'machine-remediation',
  'metal3-remediation',
  'remedies',
] as const;
export type SecondaryController = (typeof SECONDARY_CONTROLLERS)[number];

/** `*,-probes`: all but one; `preservation`: that one alone; empty: none. As --controllers of kube-controller-manager. */
export function secondaryControllersOf(text: string): ReadonlySet<SecondaryController> {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  for (const word of words) {
    const name = word.replace(/^-/u, '');
    if (word !== '*' && !SECONDARY_CONTROLLERS.some((controller) => controller === name))
      throw new InvalidArgumentError(`${word} is none of *, ${SECONDARY_CONTROLLERS.join(', ')}, or one of them with - before it.`);
  }
  const isAll = words.includes('*');
  return new Set(SECONDARY_CONTROLLERS.filter((controller) => !words.includes(`-${controller}`) && (isAll || words.includes(controller))));
}
