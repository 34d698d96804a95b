import { availableParallelism, loadavg } from 'node:os';

/** Whether the machine is so busy that a node may say that its database did not answer in time, and be right. */
export const isBusy = (): boolean => (loadavg()[0] ?? 0) > 3 * availableParallelism();
