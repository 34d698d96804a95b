import type fc from 'fast-check';
import type { State } from './state.ts';
import { observe, type World } from './world.ts';

/** A step of a run: when it makes sense, and what it does to both worlds. */
export class Step<A> implements fc.AsyncCommand<State, World> {
  readonly #name: string;
  readonly #argument: A;
  readonly #definition: Definition<A>;

  constructor(name: string, argument: A, definition: Definition<A>) {
    this.#name = name;
    this.#argument = argument;
    this.#definition = definition;
  }

  check(state: Readonly<State>): boolean {
    return this.#definition.applies?.(state, this.#argument) ?? true;
  }

  async run(state: State, world: World): Promise<void> {
    await this.#definition.act(state, world, this.#argument);
    await observe(state, world);
  }

  toString(): string {
    return `${this.#name}(${JSON.stringify(this.#argument)})`;
  }
}

export interface Definition<A> {
  readonly weight: number;
  readonly argument: fc.Arbitrary<A>;
  /** Always, where left out. */
  applies?(state: Readonly<State>, argument: A): boolean;
  /** Does the step to the service, checks its answer and does the same to the model. */
  act(state: State, world: World, argument: A): Promise<void>;
}

/** Only so that the argument's type is found by itself. */
export const step = <A>(definition: Definition<A>): Definition<A> => definition;
