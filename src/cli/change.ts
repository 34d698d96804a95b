/** What taking access away did, as the admin API answers. */
export interface AccessChangeView {
  readonly kept: number;
  readonly ended: number;
}

/** What taking access away did, in a sentence. */
export function describeChange({ kept, ended }: AccessChangeView): string {
  if (kept + ended === 0) return 'No sign-in to an app rested on it.';
  const others = kept === 0 ? '' : ` ${kept} go on by another assignment.`;
  return `Sign-ins to apps that ended: ${ended}.${others}`;
}
