/** A migration that is running. */
export interface MigrationStep {
  readonly name: string;
  readonly number: number;
  readonly of: number;
}

/** How far a migration of a large table is. */
export interface MigrationAdvance {
  /** What is counted. */
  readonly what: string;
  readonly done: number;
  /** About how many there are; 0 if that is not known. */
  readonly total: number;
}

/** Callbacks for the progress of the migrations. */
export interface MigrationProgress {
  /** Called once if another process holds the lock. */
  waiting?(): void;
  /** A transaction held a lock that the migration needs for too long. It begins again after a pause. */
  retrying?(attempt: number, of: number): void;
  began?(step: MigrationStep): void;
  advanced?(step: MigrationStep, advance: MigrationAdvance): void;
  /** It left something for an operator to decide: what, and the remedy. */
  found?(step: MigrationStep, text: string): void;
  /** The migration has run. Those that run in one transaction are committed together. */
  ran?(step: MigrationStep, milliseconds: number): void;
}
