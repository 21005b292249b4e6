import type { Plan } from '../domain/plan.ts';
import type { SettingReader } from './setting-reader.ts';
import type { Problems } from './problems.ts';
import { parseList } from './properties.ts';

const CLASS_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const CLASSES_MAX = 32;
const PODS_PER_MINUTE_MAX = 1_000_000;

/** The pace of a release: absent keys mean that everything is let go at once. An empty value means none. */
export function readPace(reader: SettingReader, problems: Problems): Pick<Plan, 'podsPerMinute' | 'priorityOrder'> {
  const isPaced = (reader.find('pods_per_minute')?.value ?? '') !== '';
  const order = reader.find('priority_order');
  const classes = parseList(order?.value ?? '');
  const wrong = classes.filter((name) => !CLASS_NAME.test(name));
  const repeated = classes.filter((name, index) => classes.indexOf(name) !== index);
  if (order !== undefined && (wrong.length > 0 || repeated.length > 0 || classes.length > CLASSES_MAX)) {
    const what = [...wrong, ...repeated].join(' ').slice(0, 60);
    problems.error(
      order.where,
      `priority_order ${what} must be up to ${CLASSES_MAX} names of PriorityClasses, each once, the first to be released first`,
    );
  }
  return {
    ...(isPaced && { podsPerMinute: reader.integer('pods_per_minute', 1, 1, PODS_PER_MINUTE_MAX) }),
    ...(classes.length > 0 && wrong.length + repeated.length === 0 && { priorityOrder: classes.slice(0, CLASSES_MAX) }),
  };
}
