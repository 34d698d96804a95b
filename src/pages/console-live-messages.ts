/** The texts of the console about lists that are watched. */
export const consoleLiveTexts = {
  watch: 'Watch live',
  lead: 'What is new appears here by itself, where scripts run and while nothing in the list is opened. Otherwise look again.',
  stop: 'Stop watching',
  again: 'Look again',
};
