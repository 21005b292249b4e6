import type { ConformanceCase } from './case.ts';
import { ACCESS_CASES } from './cases-access.ts';
import { APPLY_CASES } from './cases-apply.ts';
import { CLUSTER_CASES } from './cases-cluster.ts';
import { CUSTOM_CASES } from './cases-custom.ts';
import { LIFECYCLE_CASES } from './cases-lifecycle.ts';
import { LIST_CASES } from './cases-lists.ts';
import { OBJECT_CASES } from './cases-objects.ts';
import { PATCH_CASES } from './cases-patches.ts';

/** Everything that the embedded server and a real one must have in common. */
export const CASES: readonly ConformanceCase[] = [
  ...OBJECT_CASES,
  ...LIFECYCLE_CASES,
  ...PATCH_CASES,
  ...LIST_CASES,
  ...CUSTOM_CASES,
  ...APPLY_CASES,
  ...ACCESS_CASES,
  ...CLUSTER_CASES,
];

/** Does a server of a minor version behave as the case says? */
export function applies(one: ConformanceCase, minor: number): boolean {
  const minorOf = (version: string): number => Number(version.split('.')[1]);
  return minor >= minorOf(one.since) && (one.until === undefined || minor <= minorOf(one.until));
}
