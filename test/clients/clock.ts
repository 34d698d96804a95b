/*
 * Loaded before an example, whose clock then moves when the test says so: a message holds the milliseconds by which it goes
 * ahead from then on.
 */
const RealDate = Date;
let ahead = 0;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, values: []) =>
    values.length === 0 ? new RealDate(RealDate.now() + ahead) : Reflect.construct(target, values),
  get: (target, name) => (name === 'now' ? () => RealDate.now() + ahead : Reflect.get(target, name)),
});

process.on('message', (milliseconds: number) => {
  ahead += milliseconds;
  process.send?.('moved');
});
// The parent process has exited.
process.on('disconnect', () => process.exit());
