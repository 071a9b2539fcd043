/**
 * Loaded by a server before everything else (`--preload`). Sets its wall clock ahead by the
 * milliseconds in the file CLOCK_AHEAD, and steps it when they change. performance.now and timers
 * stay true, as on a real machine.
 */
import { readFileSync } from 'node:fs'

const READ_EVERY_MS = 20

const file = process.env.CLOCK_AHEAD ?? ''
const RealDate = Date
const read = (): number => Number(readFileSync(file, 'utf8').trim())

let ahead = read()
setInterval(() => {
  ahead = read()
}, READ_EVERY_MS).unref()

const now = (): number => RealDate.now() + ahead

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})
