import type { Hands } from './hands.ts';

/** Something that operators do often, as in lab/console-tasks.md. */
export interface Task {
  readonly name: string;
  /** Whether it is walked by keyboard alone, too. */
  readonly keys?: boolean;
  /** Whether it is one of the few that are walked with every change. */
  readonly gate?: boolean;
  /** Makes what it is about, walks from the first page of the console, and checks what holds then. */
  walk(hands: Hands): Promise<void>;
}
