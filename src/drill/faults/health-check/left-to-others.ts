import { HEALTH_CHECK_MODE } from '../../../manager/health-checks/mode.ts';

/** A line of a controller's log says that it leaves the health checks of these Machines to another controller. */
export function saysLeftTo(line: string, group: string): boolean {
  return [`"message":"${HEALTH_CHECK_MODE}"`, `"group":"${group}"`, '"mode":"off: '].every((words) => line.includes(words));
}
